"""GraphPipe takes graphs apart into series and branches, and finds what Piper's search finds."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.planner.plan import Plan
from hypercast.host.planner.strategies import bapipe, graphpipe, piper
from hypercast.host.planner.strategies.graphpipe import taken_apart
from tests.host.planner.problems import cluster, problem

EQUAL = cluster(1, 1, 1, 1)


def branched(branches, length):
    """Edges of equal branches between a first operator and a last one."""
    last = branches * length + 1
    edges = []
    for branch in range(branches):
        numbers = [0, *range(1 + branch * length, 1 + (branch + 1) * length), last]
        edges += itertools.pairwise(numbers)
    return edges


def slowest(stages, times):
    return max(sum(times[number] for number in stage) for stage in stages)


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
        found[strategy] = slowest(stages, times)
    # Stages of a chain may hold parts of several branches, those of a graph whole ones.
    assert found[graphpipe] >= found[piper] - 1e-9
    if branches == 1:
        assert found[graphpipe] == pytest.approx(found[piper])


def test_a_graph_is_taken_apart():
    graph = problem([1] * 6, EQUAL, edges=branched(2, 2)).graph
    assert taken_apart(graph, range(6)) == [0, [[1, 2], [3, 4]], 5]
    skipped = problem([1] * 4, EQUAL, edges=[(0, 1), (0, 2), (1, 2), (2, 3)]).graph
    assert taken_apart(skipped, range(4)) == [0, 1, 2, 3]
    crossed = problem([1] * 6, EQUAL, edges=[
        (0, 1), (0, 2), (1, 3), (1, 4), (2, 4), (3, 5), (4, 5)]).graph
    assert taken_apart(crossed, range(6)) == [0, 1, 2, 3, 4, 5]


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
