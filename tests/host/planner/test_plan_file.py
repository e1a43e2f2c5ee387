# SPDX-License-Identifier: BSD-2-Clause
"""Plans as files: what stands in them, and what is read and refused, key by key."""

import re
import tomllib

import pytest
import tomli_w

from hypercast.host.description.conversion import DescriptionError
from hypercast.host.planner.pipelines import BoardStage, evaluate
from hypercast.host.planner.plan import ANYTHING, NOT_YET
from hypercast.host.planner.plan_file import (
    load_plan,
    plan_boards,
    plan_divisions,
    plan_of_sections,
    plan_text,
)
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.statistics import Statistics
from hypercast.host.planner.strategies import bapipe, gnnpipe, graph_parts, samples, vertex_cut
from hypercast.reference.network import COMBINE_FIRST, Network
from tests.host.planner.problems import cluster

NETWORK = Network.of_widths([8, 6, 4, 3], orders=COMBINE_FIRST)
BOARDS = cluster(1, 1, 1)
SAMPLES = Problem.of_network(BOARDS, NETWORK, Statistics(
    vertices=(50, 30, 20, 10), edges=(70, 60, 40), sampled=True), micro_batches=6)
GRAPH = Problem.of_network(BOARDS, NETWORK, Statistics.whole(100, 500, 3))
B0, B1, B2 = BOARDS.boards


def pipeline(problem=SAMPLES, discipline=bapipe.DISCIPLINE, schedule="SNO", **options):
    """A plan of two stages."""
    return evaluate(problem, discipline, [BoardStage((0, 1), (B0,)), BoardStage((2,), (B1,))],
                    schedule, **options)


def sections_of(plan, problem=SAMPLES):
    return tomllib.loads(plan_text(problem, plan))


def test_what_stands_in_a_file():
    plan = pipeline()
    lines = plan_text(SAMPLES, plan).splitlines()
    assert lines[0].startswith("# layers in a pipeline: predicted ")
    assert lines[0].endswith(" on the fullest board.")
    assert f"{plan.seconds * 1e3:.6g} ms" in lines[0]
    assert lines[1] == "# Stale: none."
    assert sections_of(plan) == {
        "plan": {"strategy": "BaPipe", "units": 6, "schedule": "SNO"},
        "training": {
            "vertices": [50, 30, 20, 10], "edges": [70, 60, 40], "micro_batches": 6,
            "layers": ["8 to 6, combine_first", "6 to 4, combine_first", "4 to 3, combine_first"],
            "boards": ["b0-0: u50", "b1-0: u50", "b2-0: u50"]},
        "shares": {"1": {"boards": ["b0-0"], "layers": [1, 2], "in_flight": 2},
                   "2": {"boards": ["b1-0"], "layers": [3], "in_flight": 1}}}
    whole = sections_of(pipeline(GRAPH), GRAPH)
    assert whole["training"]["vertices"] == [100] and whole["training"]["edges"] == [500]


@pytest.mark.parametrize(("problem", "plan"), [
    (SAMPLES, pipeline()), (SAMPLES, pipeline(in_flight=[3, 2])),
    (SAMPLES, pipeline(schedule="SO")),
    (GRAPH, pipeline(GRAPH, gnnpipe.DISCIPLINE, "GPipe", chunks=4)),
    (SAMPLES, samples.evaluated_samples(SAMPLES, (B2, B0), [5, 1])),
    (GRAPH, graph_parts.evaluated_parts(GRAPH, (B0, B1), parts=[0.25, 0.75], hidden=False)),
    (GRAPH, graph_parts.evaluated_parts(GRAPH, (B0, B1), parts=[0.5, 0.5], hidden=True)),
    (GRAPH, vertex_cut.evaluated_cut(GRAPH, (B0, B1, B2), [0.2, 0.3, 0.5]))],
    ids=lambda value: getattr(value, "strategy", ""))
def test_what_was_written_is_read(problem, plan, tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(plan_text(problem, plan))
    assert load_plan(path, problem) == plan
    assert plan_boards(path) == len(plan.boards)


def test_numbers_of_parts_or_chunks(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(plan_text(GRAPH, pipeline(GRAPH, gnnpipe.DISCIPLINE, "GPipe", chunks=4)))
    assert plan_divisions(path) == [2, 4]
    path.write_text(plan_text(GRAPH, pipeline(GRAPH)))
    assert plan_divisions(path) == [2]
    path.write_text('[shares.1]\nboards = ["a"]\n')
    assert plan_divisions(path) == []


@pytest.mark.parametrize(("text", "message"), [
    ("a = 1\n", "line 1: there is no a in a plan; there are sections"),
    ("[other]\na = 1\n", "line 1: there is no other in a plan; there are sections"),
    ("shares = 3\n", "line 1: there is no shares in a plan"),
    ("[shares]\na = 3\n", "line 2: shares must be sections like [shares.1], not a alone"),
    ("[shares.1]\nboards = [3]\n", "line 2: [shares.1] boards must be a text, or a list of such"),
    ("[shares.1]\nlayers = [1]\n", "no section like [shares.1] has boards; take a file")])
def test_files_that_name_no_boards(text, message, tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(text)
    with pytest.raises(DescriptionError, match=re.escape(message)):
        plan_boards(path)


def refused(plan, problem=SAMPLES, **changes):
    """What is said of a plan after changes of sections: names with dots."""
    sections = sections_of(plan, problem)
    for name, value in changes.items():
        place, *path, last = [*name.split("__")]
        target = sections[place]
        for one in path:
            target = target[one]
        if value is None:
            del target[last]
        else:
            target[last] = value
    with pytest.raises(DescriptionError) as error:
        plan_of_sections(tomllib.loads(tomli_w.dumps(sections)), problem)
    return error.value


@pytest.mark.parametrize(("changes", "text", "place"), [
    ({"plan__schedule": "2F2B"}, "schedule must be one of 1F1B, FBP, SNO, SO, paths, GPipe, not "
                                 "2F2B", ("plan", "schedule")),
    ({"plan__units": 5}, "units must be 6, the micro-batches of a step, not 5",
     ("plan", "units")),
    ({"plan__split": [1, 1]}, "[plan] split: the network has 3 layers", ("plan", "split")),
    ({"training__layers": ["x" * 99]}, "[training] layers is ['" + "x" * 58 + " ... "
     + "x" * 13 + "'], but that of this network is ['8 to 6", ("training", "layers")),
    ({"training__micro_batches": 5}, "micro_batches is 5, but that of this training is 6; the plan "
     "is for another training, so plan anew", ("training", "micro_batches")),
    ({"training__edges": [1]}, "edges is [1], but that of this graph is [70, 60, 40]",
     ("training", "edges")),
    ({"shares__1__boards": ["b9-0"]}, "boards has b9-0, which the cluster has not; there are b0-0, "
     "b1-0, b2-0", ("shares.1", "boards")),
    ({"shares__2__boards": ["b0-0"]}, "boards has b0-0, which another share has, too",
     ("shares.2", "boards")),
    ({"shares__2__layers": [0, 3]}, "layers must be 1 to 2147483647, not [0, 3]",
     ("shares.2", "layers")),
    ({"shares__2__layers": [4]}, "layers has 4, but the network has layers 1 to 3",
     ("shares.2", "layers")),
    ({"shares__2__layers": [2, 3]}, "layers has 2, which [shares.1] has, too",
     ("shares.2", "layers")),
    ({"shares__2__layers": [3, 3]}, "layers has 3 twice", ("shares.2", "layers")),
    ({"shares__1__layers": [2]}, "no share has layer 1; add it to one", ("shares", "")),
    ({"shares__2__in_flight": 0}, "in_flight must be 1 to 2147483647, not 0",
     ("shares.2", "in_flight")),
    ({"shares__2__in_flight": 7}, "in_flight is 7, but a step has 6 micro-batches",
     ("shares.2", "in_flight")),
    ({"shares__2__in_flight": None}, "[shares.2] has no in_flight, but another share has",
     ("shares.2", "")),
    ({"shares__2__part": 0.5}, "has part, which says nothing of BaPipe", ("shares.2", "part")),
    ({"shares__1__boards": []}, "[shares.1] has no boards: a share without boards; give some, or "
     "leave the section out", ("shares.1", "boards")),
    ({"shares__2__boards": None}, "[shares.2] has no boards: a share", ("shares.2", "boards")),
    ({"shares__2__layers": None}, "[shares.2] has no layers: a stage without work; give some",
     ("shares.2", "layers")),
    ({"plan__strategy": "Pipes"}, "[plan] strategy must be one of ", ("plan", "strategy")),
    ({"plan__strategy": None}, ", not none", ("plan", "strategy")),
    ({"shares__1": None, "shares__2": None}, "there are no shares; give sections like [shares.1]",
     ("shares", "")),
    ({"shares__2": 5}, "must be sections like [shares.1], not 2 alone", ("shares", "2")),
])
def test_pipelines_that_make_no_sense(changes, text, place):
    error = refused(pipeline(), **changes)
    assert text in str(error)
    assert (error.section, error.key) == place


def test_shares_without_in_flight_have_what_the_schedule_says():
    sections = sections_of(pipeline())
    for share in sections["shares"].values():
        del share["in_flight"]
    assert plan_of_sections(sections, SAMPLES) == pipeline()


def test_layers_of_a_stage_in_any_order_are_one_stage():
    sections = sections_of(pipeline())
    sections["shares"]["1"]["layers"] = [2, 1]
    assert plan_of_sections(sections, SAMPLES) == pipeline()


def test_boards_of_a_stage_take_turns():
    stages = [BoardStage((0, 1, 2), (B0, B1, B2))]
    few = Problem.of_network(BOARDS, NETWORK, SAMPLES.statistics, micro_batches=2)
    plan = evaluate(few, bapipe.DISCIPLINE, stages, "SNO")
    error = refused(plan, few)
    assert "boards has 3, but they take 2 micro-batches of a step in turn" in str(error)
    one = Problem.of_network(BOARDS, NETWORK, SAMPLES.statistics)
    error = refused(evaluate(one, bapipe.DISCIPLINE, stages, "SNO"), one)
    assert "they take 1 micro-batch of a step in turn" in str(error)


def test_chunks_are_no_more_than_vertices():
    plan = pipeline(GRAPH, gnnpipe.DISCIPLINE, "GPipe", chunks=100)
    assert plan_of_sections(sections_of(plan, GRAPH), GRAPH) == plan
    error = refused(plan, GRAPH, plan__units=101)
    assert "units must be 1 to 100, the vertices, not 101" in str(error)
    assert "units must be 1 to 2147483647, not 0" in str(refused(plan, GRAPH, plan__units=0))


@pytest.mark.parametrize(("changes", "text"), [
    ({"plan__units": 5}, "units must be 6 for samples in parallel, not 5; correct it"),
    ({"plan__schedule": "SNO"}, "[plan] has a schedule, which says nothing of samples"),
    ({"shares__1__micro_batches": 5}, "micro_batches of all shares must sum up to 6, not 7"),
    ({"shares__1__micro_batches": 0}, "micro_batches must be 1 to 2147483647, not 0"),
    ({"shares__1__micro_batches": None}, "has no micro_batches, but another share has"),
    ({"shares__1__layers": [1, 2]}, "must have one board and all layers, 1 to 3, for samples"),
    ({"shares__1__boards": ["b0-0", "b2-0"]}, "must have one board and all layers"),
    ({"shares__2": None}, "samples in parallel needs two shares at least, not one"),
])
def test_samples_that_make_no_sense(changes, text):
    plan = samples.evaluated_samples(SAMPLES, (B0, B1), [4, 2])
    assert text in str(refused(plan, **changes))


@pytest.mark.parametrize("plan", [
    vertex_cut.evaluated_cut(GRAPH, (B0, B1), [0.5, 0.5]),
    graph_parts.evaluated_parts(GRAPH, (B0, B1), parts=[0.5, 0.5], hidden=False)],
    ids=lambda plan: plan.strategy)
def test_parts_that_make_no_sense(plan):
    for part, total in ((0.498, "0.998"), (0.51, "1.01")):
        error = refused(plan, GRAPH, shares__1__part=part)
        assert f"part of all shares must sum up to 1, not {total}; correct them" in str(error)
        assert (error.section, error.key) == ("shares", "")
    error = refused(plan, GRAPH, shares__1__part=1.5)
    assert "part must be 0.000000001 to 1, not 1.5" in str(error)
    sections = sections_of(plan, GRAPH)
    sections["shares"]["1"]["part"] = 0.4995  # within what people write
    assert plan_of_sections(sections, GRAPH).shares[0].part == 0.4995
    assert "units must be 1 for" in str(refused(plan, GRAPH, plan__units=2))
    on_samples = sections | {"training": sections_of(pipeline())["training"]}
    with pytest.raises(DescriptionError, match="works on the whole graph; leave --sampler out"):
        plan_of_sections(on_samples, SAMPLES)


def test_what_a_board_lacks_is_said_of_the_shares():
    tiny = cluster(1, 1, 1, weight_rows=16)
    problem = Problem.of_network(tiny, NETWORK, SAMPLES.statistics, micro_batches=6)
    with pytest.raises(DescriptionError, match="weight bank of 16 rows") as error:
        plan_of_sections(sections_of(pipeline()), problem)
    assert (error.value.section, error.value.key) == ("shares", "")


def test_errors_name_file_and_line(tmp_path):
    path = tmp_path / "plan.toml"
    text = plan_text(SAMPLES, pipeline())
    path.write_text(text.replace('schedule = "SNO"', 'schedule = "x"'))
    line = text.splitlines().index('schedule = "SNO"') + 1
    with pytest.raises(DescriptionError, match=rf", line {line}: \[plan\] schedule") as error:
        load_plan(path, SAMPLES)
    assert (error.value.section, error.value.key) == ("plan", "schedule")


def test_slices_of_layers_are_read_as_they_were_split():
    wide = Network.of_widths([8, 64, 4], orders=COMBINE_FIRST)
    problem = Problem.of_network(BOARDS, wide, Statistics(
        vertices=(50, 30, 20), edges=(70, 60), sampled=True), micro_batches=6)
    split = problem.split((2, 1))
    plan = evaluate(split, bapipe.DISCIPLINE, [
       BoardStage((0,), (B0,)), BoardStage((1, 2), (B1,))], "SNO")
    sections = sections_of(plan, problem)
    sections["plan"]["split"] = [2, 1]
    found = plan_of_sections(sections, problem)
    assert (found.split, found.trains, found.seconds) == ((2, 1), "not yet", plan.seconds)
    assert "split = [" in plan_text(problem, found)
    assert plan_of_sections(sections_of(found, problem), problem) == found


def test_slices_are_not_trained_even_where_each_board_has_all():
    problem = Problem.of_network(BOARDS, Network.of_widths([8, 64, 4], orders=COMBINE_FIRST),
                                 Statistics(vertices=(50, 30, 20), edges=(70, 60), sampled=True),
                                 micro_batches=6)
    for split, layers, trains in ((None, (0, 1), ANYTHING), ([2, 1], (0, 1, 2), NOT_YET)):
        sliced = problem.split(split) if split else problem
        sections = sections_of(evaluate(sliced, bapipe.DISCIPLINE, [
            BoardStage(layers, (B0, B1))], "SNO"), problem)
        if split:
            sections["plan"]["split"] = split
        assert plan_of_sections(sections, problem).trains == trains
