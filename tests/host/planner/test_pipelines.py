# SPDX-License-Identifier: BSD-2-Clause
"""Pipelines are planned with what really crosses, and take what boards' clocks then say."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.cluster.description import Cluster
from hypercast.host.cluster.reduction import reduction_seconds
from hypercast.host.description.description import Description
from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.description.recipe import make_recipe
from hypercast.host.description.sampling import Sampling
from hypercast.host.graphs.datasets import blocks
from hypercast.host.graphs.graph import Graph
from hypercast.host.planner.layer_costs import result_footprint
from hypercast.host.planner.operators import Footprint
from hypercast.host.planner.pipelines import (
    SUM_BYTES,
    BoardStage,
    agreed_seconds,
    evaluate,
    evenly,
    pipeline_of,
    reduced_seconds,
    schedules_for,
    stage_footprint,
)
from hypercast.host.planner.plan import ANYTHING, EXACT, NOT_YET, REFERENCES
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.statistics import Statistics
from hypercast.host.planner.strategies import bapipe, gnnpipe, pipedream
from hypercast.host.schemes.layer_crossings import crossings
from hypercast.host.training.planning import assignment_of, problem_of
from hypercast.host.training.trainer import Trainer
from hypercast.host.training.trainer_arguments import Sharing
from hypercast.reference.tensor import Kind
from tests.host.planner.problems import cluster, problem
from tests.host.processes.thread_group import on_ranks

GRAPH = Graph.load("blocks")
SAMPLING = Sampling(sampler="walks", batch=200, coverage=2.0)
MODELS = [("gcn", {}), ("gcn", {"residual": True}), ("sage", {}), ("gin", {}),
          ("gcnii", {"dropout": (0.5,)}), ("mixhop", {"dropout": (0.5,)}),
          ("sign", {"dropout": (0.5,)})]


def joined(gigabits, count=4):
    """Boards whose links are as slow as one likes."""
    return Cluster.of_sections({
        "boards": {"one": {"board": "vcu128", "count": count, "host_gigabits": gigabits,
                           "host_microseconds": 1}},
        "links": {"network": {"gigabits": gigabits, "microseconds": 1}}})


@st.composite
def networks(draw):
    """Models of two to seven layers, many of them with jumping knowledge, branches or initial
    residuals.
    """
    name, more = draw(st.sampled_from(MODELS))
    jumping = name not in ("gcnii", "mixhop", "sign") and draw(st.sampled_from([True, True, False]))
    if jumping:
        more = {"dropout": (0.5,)}
    hidden = tuple(draw(st.lists(st.sampled_from([8, 24, 64]), min_size=2, max_size=5)))
    if name in ("mixhop", "sign"):
        hidden = (*hidden, 24)[:4]
    if "residual" in more or name == "gcnii":
        hidden = hidden[:1] * len(hidden)
    return Model(name, hidden=hidden, jumping=jumping, order=draw(st.sampled_from(
        [("auto",), ("combine_first",)])), **more)


@st.composite
def runs_of(draw, layers, most=4):
    """Runs of layers, from 1."""
    count = draw(st.integers(2, min(most, layers)))
    cuts = sorted(draw(st.permutations(range(1, layers)))[:count - 1])
    return [range(begin + 1, end + 1) for begin, end in pairwise([0, *cuts, layers])]


@settings(max_examples=6, deadline=None)
@given(st.data())
def test_a_step_takes_what_was_planned(data):
    model, boards = data.draw(networks()), joined(data.draw(st.sampled_from([0.3, 3, 100])))
    count = data.draw(st.integers(1, 6))
    recipe = {"micro_batches": count, "epochs": 1}
    problem = problem_of(Description(model=model, sampling=SAMPLING, recipe=make_recipe(
        recipe, model, Device().config)), boards, GRAPH, counts=[])
    runs = data.draw(runs_of(len(problem.layers)))
    plan = evaluate(problem, bapipe.DISCIPLINE, [
       BoardStage(tuple(number - 1 for number in run), (board,))
       for run, board in zip(runs, boards.boards, strict=False)],
       data.draw(st.sampled_from(["SNO", "SO", "GPipe", "paths"])))
    assert plan.trains == ANYTHING
    planned = replace(model, order=tuple(
        layer.order for layer in problem.layers[0].network.layers))

    def seconds(group):
        trainer = Trainer(GRAPH, planned, sampling=SAMPLING, boards=Sharing(
            group=group, cluster=boards, assignment=assignment_of(plan)), **recipe)
        if group.rank:
            return trainer.follow()
        with trainer:
            trainer.fit()
            time = trainer.virtual_time()
            return time.seconds / time.steps

    assert plan.seconds == pytest.approx(on_ranks(len(runs), seconds)[0], rel=0.005)


@given(st.data())
def test_stages_send_what_crosses_between_boards(data):
    model, vertices = data.draw(networks()), data.draw(st.integers(1, 50))
    network = model.network(GRAPH)
    layers = len(network.layers)
    problem = Problem.of_network(
        joined(1), network, Statistics.whole(vertices, vertices, layers))
    runs = data.draw(runs_of(layers, most=layers))
    for forward in (True, False):
        expected = {}
        for tensor, source, target, masked in crossings(network, runs, forward=forward):
            layer = network.layers[tensor.layer - 1]
            of_input = tensor.kind == Kind.PARTIAL_GRADIENT
            elements = vertices * (layer.features_in if of_input else layer.features_out)
            assert masked <= (tensor.kind == Kind.HIDDEN)
            expected[source, target] = expected.get((source, target), 0) + 2 * elements \
                + masked * -(-elements // 8)
        for one, first in enumerate(runs):
            for other, second in enumerate(runs):
                found = problem.graph.crossing(
                    [number - 1 for number in first], [number - 1 for number in second],
                    forward=forward) if one < other else 0
                ends = (one, other) if forward else (other, one)
                assert one >= other or found == expected.pop(ends, 0)
        assert not expected


@settings(max_examples=8, deadline=None)
@given(networks())
def test_boards_agree_on_as_many_entries_as_there_are(model):
    recipe = make_recipe({}, model, Device().config)
    problem = problem_of(Description(model=model, recipe=recipe), joined(1), GRAPH, counts=[])
    planned = replace(model, order=tuple(
        layer.order for layer in problem.layers[0].network.layers))
    with Trainer(GRAPH, planned, epochs=1) as trainer:
        assert problem.entries == len(trainer.target.state().exponents)


@settings(max_examples=6, deadline=None)
@given(st.sampled_from([pipedream.DISCIPLINE, pipedream.TWO_VERSIONS]), st.integers(2, 4),
       st.integers(80, 600), st.sampled_from([0.3, 100]))
def test_a_pipeline_without_a_flush_is_filled_once_an_epoch(discipline, boards, batch, gigabits):
    """However few samples an epoch has."""
    graph = Graph(**blocks(vertices=1500))
    cluster, model = joined(gigabits), Model(hidden=(24,) * 3, order=("combine_first",))
    sampling = Sampling(sampler="walks", batch=batch, coverage=2.0)
    recipe = {"micro_batches": boards, "epochs": 5}
    problem = problem_of(Description(model=model, sampling=sampling, recipe=make_recipe(
        recipe, model, Device().config)), cluster, graph, counts=[])
    plan = evaluate(problem, discipline, [
       BoardStage(tuple(range(number, number + 1 if number < boards - 1 else 4)), (board,))
       for number, board in enumerate(cluster.boards[:boards])], "SNO")

    def seconds(group):
        trainer = Trainer(graph, model, sampling=sampling, boards=Sharing(
            group=group, cluster=cluster, assignment=assignment_of(plan)), **recipe)
        if group.rank:
            return trainer.follow()
        with trainer:
            for _ in range(2):  # of which the first steps are synchronous
                trainer.step()
            begun = trainer.virtual_time().seconds
            trainer.fit()
            return trainer.virtual_time().seconds - begun

    steps = -(-problem.samples // problem.micro_batches)
    assert plan.seconds == pytest.approx(on_ranks(boards, seconds)[0] / 3 / steps, rel=0.05)


#: Layers of 3, 6 and 9 seconds at 1 MHz, each with results of a kilobyte; a link of 1 kB/s.
def three(*megahertz, **options):
    return problem([3, 6, 9], cluster(*megahertz, gigabits=8e-6), output=1000, **options)


def stages_of(boards, *shares):
    """Stages of some layers (from 0), each with the boards of some numbers."""
    return [BoardStage(layers, tuple(boards[number] for number in numbers))
            for layers, numbers in shares]


def test_stages_take_what_their_layers_take_on_their_slowest_board():
    found = three(1, 1, 2)
    pipeline = pipeline_of(found, stages_of(found.boards, ((0,), (0,)), ((1, 2), (2, 1))))
    assert [(stage.name, stage.boards, stage.forward, stage.backward)
            for stage in pipeline.stages] == [
        ("stage 1", ("b0-0",), pytest.approx(1), pytest.approx(2)),
        ("stage 2", ("b2-0", "b1-0"), pytest.approx(5), pytest.approx(10))]
    [edge] = pipeline.edges
    assert (edge.source, edge.target, edge.forward, edge.backward) == (0, 1, 1, 1)
    assert edge.forward_ports == ("b0-0, out", "b2-0, in")
    assert edge.backward_ports == ("b2-0, out", "b0-0, in")


def test_boards_of_two_stages_send_at_the_same_time():
    found = three(1, 1, 1, 1, 1)
    for first, second, width in (((0, 1), (2, 3), 2), ((0, 1), (2,), 1), ((0, 1, 2), (3, 4), 2)):
        [edge] = pipeline_of(found, stages_of(
            found.boards, ((0,), first), ((1, 2), second))).edges
        assert (edge.forward, edge.backward) == (1 / width, 1 / width)


def test_the_slowest_route_and_the_longest_latency_count():
    boards = Cluster.of_sections({
        "boards": {"a": {"board": "u50", "count": 2}, "slow": {"board": "u50", "host_gigabits": 4}},
        "links": {"switch": {"gigabits": 8, "microseconds": 3},
                  "wire": {"gigabits": 25, "microseconds": 1, "direct": True,
                           "boards": ["a-0", "a-1"]}}})
    found = problem([1, 1], boards, output=10**9)
    [edge] = pipeline_of(found, stages_of(found.boards, ((0,), (0,)), ((1,), (1, 2)))).edges
    assert edge.forward == 2.0  # over the host's 4 Gb/s
    assert edge.latency == pytest.approx(3e-6 + sum(
        board.host.latency for board in found.boards[1:]))


def test_a_chain_joins_stages_that_read_nothing_of_each_other():
    found = three(1, 1, 1, edges=[(0, 2), (1, 2)])
    stages = stages_of(found.boards, ((0,), (0,)), ((1,), (1,)), ((2,), (2,)))
    pairs = {chain: [(edge.source, edge.target) for edge in pipeline_of(
        found, stages, chain=chain).edges] for chain in (False, True)}
    assert pairs == {False: [(0, 2), (1, 2)], True: [(0, 1), (0, 2), (1, 2)]}
    first = pipeline_of(found, stages, chain=True).edges[0]
    assert (first.forward, first.backward) == (0, 0)


def test_what_crosses_one_way_only_takes_nothing_back():
    """The gradient of what 1 reads of 0 besides 2 goes to 2, in jumping knowledge."""
    network = Model("gcn", hidden=(8, 8), jumping=True).network(GRAPH)
    found = Problem.of_network(joined(1, 3), network, Statistics.whole(40, 90, 3))
    pipeline = pipeline_of(found, stages_of(found.boards, ((0,), (0,)), ((1,), (1,)), ((2,), (2,))))
    edges = {(edge.source, edge.target): edge for edge in pipeline.edges}
    assert edges[0, 2].backward is None and edges[0, 2].forward > 0
    assert edges[1, 2].backward > edges[0, 1].backward


def test_chunks_take_the_mean_of_all_parts():
    found = Problem.of_network(joined(1), Model(hidden=(8,)).network(GRAPH), Statistics.whole(
        4000, 40_000, 2))
    stages = stages_of(found.boards, ((0,), (0,)), ((1,), (1,)))
    whole, quarters = (pipeline_of(found, stages, chunks=chunks) for chunks in (1, 4))
    part = found.operators(found.statistics.part(4))
    for number, stage in enumerate(quarters.stages):
        cost = part.operators[number].on(found.boards[number])
        assert (stage.forward, stage.backward) == (cost.forward, cost.backward)
        assert stage.forward < whole.stages[number].forward
    assert quarters.edges[0].forward == pytest.approx(whole.edges[0].forward / 4, rel=1e-3)


def test_a_step_of_stages_one_after_another():
    """Four micro-batches; the slowest stage takes 9 seconds; each way, 1 second for each link."""
    found = three(1, 1, 1)
    stages = stages_of(found.boards, ((0,), (0,)), ((1,), (1,)), ((2,), (2,)))
    plan = evaluate(found, bapipe.DISCIPLINE, stages, "GPipe")
    agreed = agreed_seconds(found, found.boards)
    assert plan.seconds == pytest.approx(1 + 1 + 2 + 1 + 4 * 9 + 1 + 4 + 1 + 2 + agreed)
    assert plan.traffic == 4 * 2 * 2 * 1000
    assert (plan.strategy, plan.schedule, plan.units, plan.staleness) == (
        "BaPipe", "GPipe", 4, EXACT)
    assert [(share.boards, share.layers, share.in_flight) for share in plan.shares] == [
        (("b0-0",), (1,), 4), (("b1-0",), (2,), 4), (("b2-0",), (3,), 4)]
    assert plan.boards == ("b0-0", "b1-0", "b2-0") and plan.intervals


def test_boards_that_wait_while_rows_pass_take_longer():
    slow = problem([3, 6, 9], cluster(1, 1, 1, gigabits=8e-6, transfers="waiting"), output=1000)
    plans = [evaluate(found, bapipe.DISCIPLINE, stages_of(
       found.boards, ((0,), (0,)), ((1,), (1,)), ((2,), (2,))), "SNO")
        for found in (three(1, 1, 1), slow)]
    assert plans[1].seconds > plans[0].seconds + 3


def test_boards_that_share_a_stage_add_up_its_gradients():
    found = three(1, 1, 1, weights=5000)
    stages = stages_of(found.boards, ((0, 1), (0, 1)), ((2,), (2,)))
    plan = evaluate(found, bapipe.DISCIPLINE, stages, "SNO")
    assert plan.traffic == 4 * 2 * 1000 + 2 * SUM_BYTES * 10_000
    assert plan.trains == NOT_YET  # each stage has one board in training
    alone = evaluate(found, bapipe.DISCIPLINE, stages_of(
       found.boards, ((0, 1), (0,)), ((2,), (2,))), "SNO")
    assert alone.trains == ANYTHING
    summing = reduced_seconds(found, found.boards[:2], 10_000)
    assert summing == reduction_seconds(
        [found.cluster.route(*found.boards[:2])], 2, SUM_BYTES * 10_000)
    assert summing > 0 == reduced_seconds(found, found.boards[:1], 10_000)
    assert agreed_seconds(found, found.boards[:2]) == reduced_seconds(
        found, found.boards[:2], 3 * found.entries)


def test_one_stage_of_several_boards_is_samples_in_parallel():
    found = three(1, 1)
    for discipline in (bapipe.DISCIPLINE, pipedream.DISCIPLINE):
        plan = evaluate(found, discipline, stages_of(found.boards, ((0, 1, 2), (0, 1))), "SNO")
        assert (plan.scheme, plan.staleness, plan.trains) == (
            "samples in parallel", EXACT, ANYTHING)
    two = evaluate(found, pipedream.TWO_VERSIONS, stages_of(
       found.boards, ((0, 1, 2), (0, 1))), "SNO")
    assert (two.scheme, two.trains) == ("layers in a pipeline", NOT_YET)
    assert two.staleness != EXACT
    alone = evaluate(found, pipedream.TWO_VERSIONS, stages_of(found.boards, ((0, 1, 2), (0,))),
                     "SNO")
    assert alone.trains == REFERENCES


def test_room_of_a_stage():
    """What is kept counts for each micro-batch in flight; older weights wait in memory."""
    found = Problem.of_network(joined(1), Model(hidden=(16, 8)).network(GRAPH), Statistics(
        vertices=(900, 600, 400, 200), edges=(5000, 3000, 1000), sampled=True))
    board, costs = found.boards[0], [one.on(found.boards[0]) for one in found.graph.operators]
    stage = BoardStage((1, 2), (board,))
    resident, kept, working = (sum((getattr(costs[number], what) for number in (1, 2)), Footprint())
                               for what in ("resident", "kept", "working"))
    more_kept, more_working = found.border_of((1, 2), board)  # the result of layer 1, and the rest
    assert more_kept.features == result_footprint(16, 600, board.config).features
    kept, working = kept + more_kept + found.lists((1, 2), board), working + more_working
    assert stage_footprint(found, stage, board, 3) == resident + kept.times(3) + working
    older = Footprint(gradients=2 * resident.weight_rows)
    assert stage_footprint(found, stage, board, 1, 3) == resident + older + kept + working
    whole = Problem.of_network(joined(1), Model(hidden=(16, 8)).network(GRAPH), Statistics.whole(
        900, 5000, 3))
    lists = whole.lists((0,), board)
    first = [stage_footprint(whole, BoardStage((0,), (board,)), board, flight)
             for flight in (1, 2)]
    cost = whole.graph.operators[0].on(board)
    assert first[0] == cost.resident + cost.kept + cost.working + lists
    assert first[1] == first[0] + cost.kept


def test_a_stage_that_does_not_fit_is_named():
    small = cluster(1, 1, weight_rows=16)
    found = problem([1, 1], small, footprint=Footprint(weight_rows=9))
    one, two = stages_of(small.boards, ((0, 1), (0,))), stages_of(
        small.boards, ((0,), (0,)), ((1,), (1,)))
    text = evaluate(found, bapipe.DISCIPLINE, one, "SNO", in_flight=[1])
    assert text.startswith("b0-0 (u50) has a weight bank of 16 rows, but 18 are needed for layer 1 "
                           "to layer 2; ")
    assert not isinstance(evaluate(found, bapipe.DISCIPLINE, two, "SNO", in_flight=[1, 1]), str)


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=6))
def test_shares_of_boards_that_are_done_at_once(seconds):
    shares = evenly(seconds)
    assert sum(shares) == pytest.approx(1)
    for share, one in zip(shares, seconds, strict=True):
        assert share * one == pytest.approx(shares[0] * seconds[0])


def test_schedules_of_boards_that_send_row_by_row():
    rows, results = (cluster(1, 1, transfers=transfers).boards for transfers in ("rows", "results"))
    assert schedules_for(stages_of(rows, ((0,), (0,)), ((1,), (1,)))) == (
        "1F1B", "FBP", "SNO", "SO")
    mixed = (rows[0], results[1])
    assert schedules_for(stages_of(mixed, ((0,), (0,)), ((1,), (1,)))) == ("SNO", "SO")


@pytest.mark.parametrize(("schedule", "trains"), [
    ("SNO", ANYTHING), ("SO", ANYTHING), ("GPipe", ANYTHING), ("paths", ANYTHING),
    ("1F1B", NOT_YET), ("FBP", NOT_YET)])
def test_what_training_can_do(schedule, trains):
    found = three(1, 1, 1)
    stages = stages_of(found.boards, ((0,), (0,)), ((1, 2), (1,)))
    assert evaluate(found, bapipe.DISCIPLINE, stages, schedule).trains == trains
    older = evaluate(found, pipedream.DISCIPLINE, stages, schedule)
    assert older.trains == trains and older.staleness != EXACT


def test_chunks_are_trained_all_forward_first():
    found = Problem.of_network(joined(10), Model(hidden=(8,)).network(GRAPH), Statistics.whole(
        4000, 40_000, 2))
    stages = stages_of(found.boards, ((0,), (0,)), ((1,), (1,)))
    plans = {schedule: evaluate(found, gnnpipe.DISCIPLINE, stages, schedule, chunks=4)
             for schedule in ("GPipe", "SNO")}
    assert [plan.trains for plan in plans.values()] == [ANYTHING, NOT_YET]
    assert [plan.units for plan in plans.values()] == [4, 4]
    whole = evaluate(found, bapipe.DISCIPLINE, stages, "GPipe")
    assert plans["GPipe"].memory == whole.memory  # all chunks together are the graph
