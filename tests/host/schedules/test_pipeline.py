"""Pipelines: order of stages, periods, and micro-batches in flight by path."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.schedules.pipeline import Edge, Pipeline, Stage


def stages(*seconds):
    return tuple(Stage(name=f"stage {number}", forward=one, backward=2 * one)
                 for number, one in enumerate(seconds))


@given(st.integers(1, 8), st.integers(1, 9), st.integers(1, 9), st.integers(0, 30))
def test_equal_stages_have_as_many_in_flight_as_their_trips_take(count, forward, backward, sent):
    one = Stage(name="", forward=forward, backward=backward)
    pipeline = Pipeline.chain([one] * count, [sent] * (count - 1))
    period = max(forward + backward, sent if count > 1 else 0)
    turns = math.ceil((forward + backward + 2 * sent) / period)
    assert pipeline.period == period
    assert pipeline.in_flight(hidden=False) == [1 + turns * one for one in reversed(range(count))]


def test_the_longer_of_two_branches_counts():
    wide = Pipeline(stages(1, 1, 1, 1, 1), tuple(
        Edge(source=source, target=target, forward=0, backward=0)
        for source, target in ((0, 1), (1, 2), (2, 4), (0, 3), (3, 4))))
    assert wide.in_flight(hidden=True) == [4, 3, 2, 2, 1]


def test_boards_that_share_a_stage_take_a_part_of_its_time():
    shared = Stage(name="shared", forward=2, backward=4, boards=("a", "b"))
    pipeline = Pipeline.chain([shared, *stages(1)])
    assert pipeline.period == 3
    assert pipeline.in_flight(hidden=True) == [2, 1]


def test_a_circle_of_stages_is_named():
    with pytest.raises(ValueError, match=r"stage [01] to stage [01] to stage"):
        Pipeline(stages(1, 1), (Edge(source=0, target=1, forward=0, backward=0),
                                Edge(source=1, target=0, forward=0, backward=0)))


def test_no_stage_is_no_pipeline():
    with pytest.raises(ValueError, match="at least one stage"):
        Pipeline(())
