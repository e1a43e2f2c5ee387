# SPDX-License-Identifier: BSD-2-Clause
"""Plans become what boards do; whatever boards do, they train the bits of one."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.cluster.description import load_cluster
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.description import Description
from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.description.recipe import make_recipe
from hypercast.host.description.sampling import Sampling
from hypercast.host.graphs.datasets import blocks
from hypercast.host.graphs.graph import Graph
from hypercast.host.planner.pipelines import BoardStage, evaluate
from hypercast.host.planner.plan import ANYTHING, NOT_YET
from hypercast.host.planner.plan_file import plan_boards, plan_divisions, plan_text
from hypercast.host.planner.search import search
from hypercast.host.planner.statistics import Part
from hypercast.host.planner.strategies import bapipe, gnnpipe, pipedream
from hypercast.host.planner.strategies.graph_parts import evaluated_parts
from hypercast.host.planner.strategies.vertex_cut import evaluated_cut
from hypercast.host.schemes.graph_parts import divide
from hypercast.host.training.planning import (
    assignment_of,
    choose_plan,
    planned_description,
    problem_of,
    read_plan,
)
from hypercast.host.training.trainer import Trainer
from hypercast.host.training.trainer_arguments import Sharing
from tests.host.processes.thread_group import on_ranks
from tests.host.schemes.trainings import train_on

GRAPH = Graph.load("blocks")
#: A dense half, and a sparse one.
UNEVEN = Graph.from_scipy(
    scipy.sparse.block_diag([Graph(**blocks(vertices=300, degree=degree)).edges
                             for degree in (2.0, 40.0)]),
    features=np.eye(600, 40), labels=np.arange(600) % 3, train=np.arange(600) % 2 > 0)
SAMPLES = Sampling(sampler="neighbours", batch=3, fan_outs=(2,))
BOARDS = load_cluster("vcu128-4")
MODEL = Model(hidden=(6, 6, 6), order=("combine_first",))


def description(model=MODEL, sampling=None, device=None, **recipe):
    device = device or Device()
    return Description(model=model, sampling=sampling or Sampling(), device=device,
                       recipe=make_recipe(recipe, model, device.config))


@pytest.fixture(scope="module")
def sampled():
    """A training on samples, the planner's problem, and what it found."""
    training = description(Model(hidden=(6, 6, 6)), SAMPLES, micro_batches=5)
    problem = problem_of(training, BOARDS, GRAPH)
    return training, problem, search(problem)


@pytest.mark.parametrize("sampling", [None, SAMPLES])
@pytest.mark.parametrize("several", [False, True])
def test_several_labels_are_planned_as_such(sampling, several):
    labels = np.arange(60) % 3
    graph = Graph.from_edges(
        [[v, (v + 1) % 60] for v in range(60)], np.eye(60, 8),
        labels[:, None] == np.arange(3) if several else labels, train=range(40))
    assert problem_of(description(sampling=sampling), BOARDS, graph).sigmoid == several


@settings(max_examples=4, deadline=None)
@given(st.data())
def test_whatever_boards_do_their_bits_are_those_of_one(data):
    boards = data.draw(st.integers(2, 3))
    scheme = data.draw(st.sampled_from(["samples", "graph", "layers"]))
    many = st.lists(st.integers(1, 4), min_size=boards, max_size=boards)
    options = {"epochs": 2, "cluster": BOARDS}
    names = tuple(data.draw(st.permutations([one.name for one in BOARDS.boards]))[:boards])
    if scheme == "graph":
        options["assignment"] = Assignment(scheme=scheme, boards=names,
                                           parts=tuple(map(float, data.draw(many))))
    elif scheme == "samples":
        counts = tuple(data.draw(many))
        options |= {"sampling": SAMPLES, "micro_batches": sum(counts)}
        options["assignment"] = Assignment(scheme=scheme, boards=names, micro_batches=counts)
    else:
        cuts = sorted(data.draw(st.permutations([1, 2, 3]))[:boards - 1])
        ends = [0, *cuts, 4]
        options |= {"sampling": SAMPLES, "micro_batches": 4}
        options["assignment"] = Assignment(
            scheme=scheme, boards=names, in_flight=tuple(range(5 + boards, 5, -1)),
            runs=tuple(range(begin + 1, end + 1) for begin, end in pairwise(ends)))
    assert train_on(boards, GRAPH, MODEL, **options) == train_on(1, GRAPH, MODEL, **options)


def test_every_plan_that_says_so_is_an_assignment(sampled):
    _, problem, comparison = sampled
    assert {plan.strategy for plan in comparison.plans if plan.trains != NOT_YET} >= {
        "one board", "samples in parallel", "BaPipe", "GPipe, equal layers"}
    for plan in comparison.plans:
        if plan.trains == NOT_YET:
            with pytest.raises(DescriptionError, match=f"{plan.strategy} .* cannot be trained: "):
                assignment_of(plan)
            continue
        found = assignment_of(plan)
        assert len(found.boards) == len(plan.boards)
        assert sum(found.micro_batches) in (0, problem.micro_batches)
        if found.runs:
            assert [one for run in found.runs for one in run] == [*problem.numbers]


def test_the_chosen_plan_is_exact_and_can_be_trained(sampled):
    training, problem, comparison = sampled
    found = choose_plan(training, problem)
    assert found.exact and found.trains != NOT_YET
    assert found.seconds == min(plan.seconds for plan in comparison.plans
                                if plan.exact and plan.trains != NOT_YET)
    chip = description(Model(hidden=(6, 6, 6)), SAMPLES, device=Device("rtl"), micro_batches=5)
    assert choose_plan(chip, problem).strategy == "one board"
    narrow = description(device=Device(elements=8))
    with pytest.raises(DescriptionError, match="vcu128-0 has elements of 16 bits, the training of "
                                               "8; give --elements 16"):
        choose_plan(narrow, problem)


def test_a_plan_is_read_with_its_orders(sampled, tmp_path):
    training, problem, comparison = sampled
    path = tmp_path / "plan.toml"
    plan = next(one for one in comparison.plans if one.strategy == "samples in parallel")
    path.write_text(plan_text(problem, plan))
    assert plan_boards(path) == len(plan.boards)
    ordered = planned_description(training, problem, plan)
    assert ordered.model.network(GRAPH) == problem.layers[0].network
    assert ordered.sampling == training.sampling and ordered.recipe == training.recipe
    found, assignment = read_plan(path, problem_of(training, BOARDS, GRAPH))
    assert found.seconds == pytest.approx(plan.seconds)
    assert assignment == assignment_of(plan)
    other = problem_of(description(Model(hidden=(6, 6)), SAMPLES, micro_batches=5), BOARDS, GRAPH)
    with pytest.raises(DescriptionError, match=r"plan.toml, line \d+: \[training\] .* is for "
                                               r"another"):
        read_plan(path, other)


@pytest.mark.parametrize("order", [("auto",), ("combine_first",)])
def test_plans_know_the_parts_of_the_training(order):
    """The fullest board holds its own part, not the mean of all; the busiest sets the pace."""
    training = description(Model(hidden=(64, 6), order=order))
    problem = problem_of(training, BOARDS, UNEVEN)
    plans = [evaluated_parts(problem, problem.boards, hidden=hidden) for hidden in (False, True)]
    model = Trainer.of_description(planned_description(training, problem, plans[0]),
                                   graph=UNEVEN).initial
    for count in (2, 3, 4, 16):
        division = divide(model, count)
        found = [Part(*one) for one in zip(np.bincount(division.boards).tolist(),
                                           division.edges.tolist(), division.halos.tolist(),
                                           strict=True)]
        assert found in [list(parts) for parts in problem.statistics.divisions] or count == 3
    assert problem_of(training, BOARDS, UNEVEN, counts=[3]).statistics.parts(3)[2].vertices
    for plan in plans:
        assert len({*plan.memory.values()}) > 1
        assert plan.traffic == sum(problem.statistics.halos(4)) * 2 * sum(
            problem.exchanges) + 16 * 3 * problem.weights


def test_chunks_go_through_layers(tmp_path):
    problem = problem_of(description(), BOARDS, GRAPH, counts=[])
    path, stages = tmp_path / "plan.toml", [
        BoardStage((0,), problem.boards[1:2]), BoardStage((1, 2, 3), problem.boards[:1])]
    path.write_text(plan_text(problem, evaluate(
        problem, gnnpipe.DISCIPLINE, stages, "GPipe", chunks=8)))
    _, assignment = read_plan(path, problem)
    assert (assignment.scheme, assignment.chunks, assignment.versions) == ("layers", 8, 1)
    assert assignment.runs == (range(1, 2), range(2, 5))
    for old, new, text in (
            ('"GPipe"', '"SNO"', r"GNNPipe .* cannot be trained"),
            ("units = 8", f"units = {GRAPH.vertices + 1}", "units must be 1 to "),
            ("units = 8", "units = 0", "units must be 1 to ")):
        content = plan_text(problem, evaluate(
            problem, gnnpipe.DISCIPLINE, stages, "GPipe", chunks=8))
        assert old in content
        path.write_text(content.replace(old, new))
        with pytest.raises(DescriptionError, match=text):
            read_plan(path, problem)


def test_stages_of_one_board_each_stash_weights(sampled, tmp_path):
    _, problem, _ = sampled
    path, boards = tmp_path / "plan.toml", problem.boards
    one, two = (evaluate(problem, pipedream.DISCIPLINE, [
       BoardStage((0, 1), boards[:width]), BoardStage((2, 3), boards[2:3])], "SNO")
        for width in (1, 2))
    path.write_text(plan_text(problem, one))
    _, assignment = read_plan(path, problem)
    assert assignment == Assignment(
        scheme="layers", boards=("vcu128-0", "vcu128-2"), runs=(range(1, 3), range(3, 5)),
        in_flight=(2, 1), stages=2)
    path.write_text(plan_text(problem, two))
    with pytest.raises(DescriptionError, match=r"PipeDream .* cannot be trained"):
        read_plan(path, problem)


def test_a_single_stage_of_several_boards_trains_samples(sampled):
    training, problem, _ = sampled
    plan = evaluate(problem, pipedream.DISCIPLINE, [
       BoardStage((0, 1, 2, 3), problem.boards[:3])], "SNO")
    assignment = assignment_of(plan)
    assert assignment == Assignment(scheme="samples", boards=plan.boards, micro_batches=(2, 2, 1))
    options = {"epochs": 2, "sampling": SAMPLES, "micro_batches": 5}
    model = planned_description(training, problem, plan).model
    assert train_on(3, GRAPH, model, assignment=assignment, **options) == train_on(
        1, GRAPH, model, **options)


@pytest.mark.parametrize(("schedule", "stages"), [
    ("SO", [(0,), (1, 2), (3,)]), ("SNO", [(0,), (1,), (2,), (3,)]), ("GPipe", [(0, 1), (2, 3)])])
def test_jumping_knowledge_is_trained_by_a_plan_that_knows_what_skips_boards(schedule, stages):
    model = Model(hidden=(32, 32, 32), jumping=True, order=("combine_first",))
    sampling = Sampling(sampler="walks", batch=200, coverage=2.0)
    problem = problem_of(description(model, sampling, micro_batches=4), BOARDS, GRAPH, counts=[])
    plan, late = (evaluate(problem, discipline, [
       BoardStage(numbers, (board,))
       for numbers, board in zip(stages, problem.boards, strict=False)], schedule)
        for discipline in (bapipe.DISCIPLINE, pipedream.DISCIPLINE))
    assert (plan.trains, late.trains) == (ANYTHING, NOT_YET)
    assignment = assignment_of(plan)

    def seconds(group):
        trainer = Trainer(GRAPH, model, epochs=1, sampling=sampling, micro_batches=4,
                          boards=Sharing(group=group, cluster=BOARDS, assignment=assignment))
        if group.rank:
            return trainer.follow()
        with trainer:
            trainer.fit()
            time = trainer.virtual_time()
            return time.seconds / time.steps

    assert plan.seconds == pytest.approx(on_ranks(len(stages), seconds)[0], rel=0.005)


def test_a_vertex_cut_is_trained_as_samples():
    training = description()
    problem = problem_of(training, BOARDS, GRAPH)
    plan = evaluated_cut(problem, problem.boards[:3])
    assert plan.trains == ANYTHING and not plan.exact
    found, assignment = planned_description(training, problem, plan), assignment_of(plan)
    assert found.sampling == Sampling(sampler="cut", parts=3)
    assert found.recipe.micro_batches == 3 and assignment.micro_batches == (1, 1, 1)
    options = {"epochs": 2, "sampling": found.sampling, "micro_batches": 3, "cluster": BOARDS,
               "assignment": assignment}
    assert train_on(3, GRAPH, found.model, **options) == train_on(1, GRAPH, found.model, **options)
    uneven = evaluated_cut(problem, problem.boards[:2], parts=(0.3, 0.7))
    with pytest.raises(DescriptionError, match=r"CoFree-GNN .* a vertex cut in equal parts"):
        assignment_of(uneven)


def test_a_step_has_no_more_micro_batches_than_there_are_samples():
    problem = problem_of(description(sampling=SAMPLES, micro_batches=500), BOARDS, GRAPH)
    assert 1 < problem.micro_batches < 500


@pytest.mark.parametrize(("text", "message"), [
    ("", ": this is no plan, for no section"), ("x = 1", ", line 1: there is no x in a plan"),
    ("[shares.1]", ": this is no plan"), ("[shares]\nx = 1", ", line 2: shares must be sections"),
    ("[shares.1]\nboards = [1]", ", line 2: .* boards must be a text, or a list of such, not"),
    ("[shares.1]\nboards = 3", ", line 2: .* boards must be a text"),
    ("[shares.1]\nboards = 1.5", ", line 2: .* boards must be a text"),
    ("[shares.1]\nboards = true", ", line 2: .* boards must be a text"),
    ("[shares.1]\nboards = 2020-01-02", ", line 2: .* boards must be a text"),
    ("[shares.1]\nboards = ''", ", line 2: .* boards is empty"),
    ("[shares.1]\nboards = 'a'\n[plan]\nunits = 1.5", ", line 4: .* units must be a whole"),
])
@pytest.mark.parametrize("reading", [plan_boards, plan_divisions])
def test_what_is_no_plan(tmp_path, reading, text, message):
    path = tmp_path / "plan.toml"
    path.write_text(text)
    with pytest.raises(DescriptionError, match=rf"plan\.toml{message}"):
        reading(path)


def test_a_board_may_stand_for_a_list_of_it_alone(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text("[shares.1]\nboards = 'vcu128-0'\n[shares.2]\nboards = ['a', 'b']\n")
    assert plan_boards(path) == 3 and plan_divisions(path) == [3]
