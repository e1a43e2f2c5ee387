# SPDX-License-Identifier: BSD-2-Clause
"""GraphPipe takes graphs apart into series and branches, and finds what Piper's search finds."""

import itertools
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.benches import plan_workloads
from hypercast.host.cluster.description import Cluster
from hypercast.host.planner.operators import Footprint
from hypercast.host.planner.pipelines import BoardStage, evaluate
from hypercast.host.planner.plan import Plan
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.stage_room import NONE_FIT, StageRoom, bits_of
from hypercast.host.planner.statistics import Statistics
from hypercast.host.planner.strategies import bapipe, graphpipe, piper
from hypercast.host.planner.strategies.graphpipe import take_apart
from hypercast.reference.models import model_network
from tests.host.planner.problems import chains, cluster, problem, slowest

EQUAL = cluster(1, 1, 1, 1)


def branched(branches, length):
    """Edges of equal branches between a first operator and a last one."""
    last = branches * length + 1
    edges = []
    for branch in range(branches):
        numbers = [0, *range(1 + branch * length, 1 + (branch + 1) * length), last]
        edges += itertools.pairwise(numbers)
    return edges


def evaluated_on(training, stages, schedule):
    """What evaluating stages on the fastest boards gives."""
    return evaluate(training, graphpipe.DISCIPLINE, [
       BoardStage(stage, (board,))
       for stage, board in zip(stages, training.fastest, strict=False)], schedule)


def unlimited(training):
    """The plans of partitions that were searched without limits, and reasons why some are none."""
    return [evaluated_on(training, graphpipe.partition(training, count, limited=False), "paths")
            for count in range(2, len(training.boards) + 1)]


@given(st.integers(1, 3), st.integers(1, 3), st.data())
def test_both_find_stages_of_all_operators(branches, length, data):
    count = branches * length + 2
    times = data.draw(st.lists(st.integers(1, 9), min_size=count, max_size=count))
    training = problem(times, EQUAL, edges=branched(branches, length))
    found = {}
    for strategy, stages in ((graphpipe, graphpipe.partition(training, 4)),
                             (piper, piper.partition(training))):
        assert sorted(number for stage in stages for number in stage) == list(range(count))
        assert len(stages) <= 4
        found[strategy] = slowest(training, stages)
    # Stages of a chain may hold parts of several branches, those of a graph whole ones.
    assert found[graphpipe] >= found[piper] - 1e-9
    if branches == 1:
        assert found[graphpipe] == pytest.approx(found[piper])


def test_a_graph_is_taken_apart():
    graph = problem([1] * 6, EQUAL, edges=branched(2, 2)).graph
    assert take_apart(graph, range(6)) == [0, [[1, 2], [3, 4]], 5]
    skipped = problem([1] * 4, EQUAL, edges=[(0, 1), (0, 2), (1, 2), (2, 3)]).graph
    assert take_apart(skipped, range(4)) == [0, 1, 2, 3]
    crossed = problem([1] * 6, EQUAL, edges=[
        (0, 1), (0, 2), (1, 3), (1, 4), (2, 4), (3, 5), (4, 5)]).graph
    assert take_apart(crossed, range(6)) == [0, 1, 2, 3, 4, 5]


def test_branches_beside_each_other_are_faster_than_a_chain():
    boards = cluster(*[1] * 8)
    training = problem([1] * 10, boards, edges=branched(4, 2), micro_batches=4)
    [graph], [chain], [exhaustive] = (list(strategy.plans(training))
                                      for strategy in (graphpipe, bapipe, piper))
    assert isinstance(graph, Plan)
    assert graph.seconds < min(chain.seconds, exhaustive.seconds)
    assert max(share.in_flight for share in graph.shares) < max(
        share.in_flight for share in chain.shares)


def test_too_many_downsets_are_not_searched():
    training = problem([1] * 26, EQUAL, edges=branched(6, 4))
    [refusal] = piper.plans(training)
    assert "more than 500 downsets" in refusal.reason


def tight(edges, data):
    """A problem of five operators and three boards, with little memory."""
    words = st.integers(0, 400)
    return problem(
        data.draw(st.lists(st.integers(1, 9), min_size=5, max_size=5)),
        cluster(1, 1, 1, channel_words=1024, tensors=data.draw(st.sampled_from([16, 32, 128]))),
        edges=edges, micro_batches=data.draw(st.integers(1, 5)), output=1,
        footprint=Footprint(data.draw(words), data.draw(words)))


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_no_chain_that_fits_has_a_smaller_bottleneck(data):
    training = tight(None, data)
    fit = [slowest(training, stages) for stages in chains(training.graph, 3) if len(stages) > 1
           and isinstance(evaluated_on(training, stages, "SNO"), Plan)]
    [found] = graphpipe.plans(training)
    if not fit:
        assert found.reason.startswith(NONE_FIT)
        return
    least = min(slowest(training, stages) for count in (2, 3)
                if (stages := graphpipe.partition(training, count)))
    assert isinstance(found, Plan)
    assert least == pytest.approx(min(fit))


@settings(max_examples=50, deadline=None)
@given(st.sampled_from([None, branched(3, 1), ((0, 1), (0, 2), (2, 3), (1, 4), (3, 4))]),
       st.integers(2, 3), st.data())
def test_limits_that_nothing_reaches_change_nothing(edges, count, data):
    training = tight(edges, data)
    stages = graphpipe.partition(training, count, limited=False)
    if isinstance(evaluated_on(training, stages, "SNO"), Plan) and len(stages) > 1:
        assert graphpipe.partition(training, count) == stages


def boards(count, **fields):
    return Cluster.of_sections({
        "boards": {"one": {"board": "vcu128", "count": count, **fields}},
        "links": {"network": {"gigabits": 100}}})


def gcnii(cluster, convolutions):
    network = model_network("gcnii", 64, (16,) * convolutions, 8)
    layers = len(network.layers)
    return Problem.of_network(cluster, network, Statistics(
        vertices=(800,) * (layers + 1), edges=(8000,) * layers, sampled=True),
        micro_batches=6)


def branched_convolutions(cluster, branches, length):
    """All of which combine first: their programs are the shorter ones."""
    found = plan_workloads.branch(cluster, branches, length)
    network = found.layers[0].network
    return Problem.of_network(
        cluster, network.with_orders(layer.orders[0] for layer in network.layers), found.statistics,
        micro_batches=found.micro_batches)


@pytest.mark.parametrize(("training", "text"), [
    (gcnii(boards(5, weight_rows=128), 10), "a weight bank of 128 rows"),
    (gcnii(boards(3, channel_words=2048), 10), "2.1 MB, but"),
    (gcnii(boards(4, channel_words=1024), 7), "1.05 MB, but"),
    (branched_convolutions(boards(5, program_rows=256), 2, 2), "256 rows of program memory"),
    (branched_convolutions(boards(6, program_rows=256), 2, 3), "256 rows of program memory"),
])
def test_stages_are_found_where_the_most_even_ones_do_not_fit(training, text):
    assert all(isinstance(reason, str) and text in reason for reason in unlimited(training)[-1:])
    assert not any(isinstance(one, Plan) for one in unlimited(training))
    for strategy in (graphpipe, piper):
        [plan] = strategy.plans(training)
        assert isinstance(plan, Plan), strategy
        assert sorted(layer for share in plan.shares for layer in share.layers) == list(
            training.numbers)


def test_where_no_stages_fit_a_refusal_says_what_lacks():
    for strategy in (graphpipe, piper):
        [refusal] = strategy.plans(gcnii(boards(4, tensors=32), 16))
        assert refusal.reason.startswith(f"{NONE_FIT}; one-0 (vcu128) has 32 entries of the "
                                         f"exponent file, but ")
        assert "are needed for layer 1 to layer" in refusal.reason
        assert "raise tensors to 64 (in the cluster's file: tensors=64)" in refusal.reason


def stages_behind(graph, stages):
    """For each stage, the stages on the longest way from it to an end; gradients go ways, too."""
    of = {number: place for place, stage in enumerate(stages) for number in stage}
    ways = {(of[one], of[other]) for one, other in (
        *graph.edges, *((taker, target) for _, target, taker in graph.skips))
        if of[one] != of[other]}

    def behind(place):
        return max((1 + behind(other) for one, other in ways if one == place), default=0)

    return [behind(place) for place in range(len(stages))]


@pytest.mark.parametrize("linked", [False, True])
def test_stages_fit_with_what_is_in_flight_where_they_are(linked):
    """Where branches pass gradients on to each other, more stages are behind the first ones."""
    random, found = Random(linked), 0
    for _ in range(60):
        branches, length = random.choice([(2, 1), (2, 2), (3, 1)])
        count = branches * length + 2
        firsts = range(1, count - 1, length)
        training = problem(
            [random.randint(1, 9) for _ in range(count)],
            cluster(*[1] * 6, channel_words=1024), edges=branched(branches, length),
            micro_batches=random.randint(2, 6), output=1,
            footprint=Footprint(random.randrange(100, 300), random.randrange(100, 300)))
        [graph] = training._graphs.values()
        training._graphs[training.statistics] = replace(graph, skips=tuple(
            (0, after, first) for first, after in itertools.pairwise(firsts)) if linked else ())
        room = StageRoom(training)
        for boards in range(2, 7):
            stages = graphpipe.partition(training, boards)
            if not stages:
                continue
            found += 1
            for stage, behind in zip(stages, stages_behind(training.graph, stages), strict=True):
                assert room.in_flight(bits_of(stage), training.boards[0]) >= min(
                    training.micro_batches, behind + 1)
    assert found > 20
