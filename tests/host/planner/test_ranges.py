"""Layers are dealt to boards as evenly as they can be, and only where they fit."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.planner.operators import Footprint
from hypercast.host.planner.ranges import Ranges
from tests.host.planner.problems import cluster, problem

TIMES = st.lists(st.integers(1, 9), min_size=2, max_size=7)
CLOCKS = st.lists(st.sampled_from([1, 2, 4]), min_size=2, max_size=4)


def ways(layers, boards):
    """All ways to cut layers into runs, one for each board."""
    for cuts in itertools.combinations(range(1, layers), boards - 1):
        yield list(itertools.pairwise([0, *cuts, layers]))


@given(TIMES, CLOCKS)
def test_no_other_way_has_a_faster_slowest_board(times, clocks):
    training = problem(times, cluster(*clocks))
    stages = Ranges(training).balanced(training.boards)
    if len(clocks) > len(times):
        assert stages is None
        return
    assert [layer for stage in stages for layer in stage.layers] == list(range(len(times)))
    best = min(max(sum(times[begin:end]) / clock
                   for (begin, end), clock in zip(way, clocks, strict=True))
               for way in ways(len(times), len(clocks)))
    slowest = max(sum(times[layer] for layer in stage.layers) / clock
                  for stage, clock in zip(stages, clocks, strict=True))
    assert slowest == pytest.approx(best)


def test_boards_have_what_fits():
    boards = cluster(1, 1, channel_words=1024)
    # The first of two boards has two micro-batches in flight.
    fits = problem([1, 1, 1], boards, footprint=Footprint(300, 300))
    assert [len(stage.layers) for stage in Ranges(fits).balanced(boards.boards)] == [1, 2]
    assert Ranges(problem([1, 1, 1], boards, footprint=Footprint(600, 0))).balanced(
        boards.boards) is None


def test_a_cut_that_the_link_cannot_carry_is_the_slowest_of_all():
    boards = cluster(1, 1, gigabits=8e-6)  # 1000 bytes in a second
    training = problem([2, 2, 2, 2], boards, output=50_000)
    assert len(Ranges(training).balanced(boards.boards)) == 2
    assert training.graph.cut([0, 1], [2, 3]) == 50_000
