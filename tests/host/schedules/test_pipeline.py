# SPDX-License-Identifier: BSD-2-Clause
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


def test_ends_and_ports_by_direction():
    edge = Edge(source=3, target=5, forward=1, backward=2, forward_ports=("there",),
                backward_ports=("back",))
    assert (edge.ends(True), edge.ends(False)) == ((3, 5), (5, 3))
    assert (edge.ports(True), edge.ports(False)) == (("there",), ("back",))
    assert (edge.seconds(True), edge.seconds(False)) == (1, 2)
    assert edge.transfers == [1, 2]


def test_stages_left_by_direction():
    """On the longest way to an end: 0 leads to 1, 2 and 4 in turn, and by 3 to 4."""
    wide = Pipeline(stages(1, 1, 1, 1, 1), tuple(
        Edge(source=source, target=target, forward=0, backward=0)
        for source, target in ((3, 4), (0, 1), (1, 2), (2, 4), (0, 3))))
    assert wide.stages_left(forward=True) == [3, 2, 1, 1, 0]
    assert wide.stages_left(forward=False) == [0, 1, 2, 1, 3]


@pytest.mark.parametrize(("hidden", "expected"), [(True, 2), (False, 5)])
def test_a_trip_takes_both_transfers_and_their_latencies(hidden, expected):
    """A period of 3 seconds; a stage takes 3, and transfers 2 + 1 seconds and twice 2."""
    edge = Edge(source=0, target=1, forward=2, backward=1, latency=2)
    assert Pipeline(stages(1, 1), (edge,)).in_flight(hidden=hidden) == [expected, 1]
    one_way = Edge(source=0, target=1, forward=2, backward=None, latency=2)
    assert Pipeline(stages(1, 1), (one_way,)).in_flight(hidden=hidden) == [min(expected, 4), 1]


def test_a_stage_without_work_has_one_micro_batch_more_than_the_next():
    assert Pipeline.chain([Stage(name="", forward=0, backward=0), *stages(1)]).in_flight(
        hidden=True) == [2, 1]


def test_boards_share_what_a_stage_has():
    one, three = (Stage(name="", forward=1, backward=1, boards=tuple("abc"[:count]))
                  for count in (1, 3))
    assert Pipeline.chain([one, three]).per_board([4, 4]) == [4, 2]
    assert three.seconds * 3 == one.seconds == 2
    with pytest.raises(ValueError, match="argument"):
        Pipeline.chain([one, three]).per_board([4])


def test_a_chain_has_ports_of_its_own_for_each_transfer():
    chain = Pipeline.chain(stages(1, 1, 1), [3, 4])
    assert [(edge.source, edge.target, edge.forward, edge.backward) for edge in chain.edges] == [
        (0, 1, 3, 3), (1, 2, 4, 4)]
    ports = [port for edge in chain.edges for forward in (True, False)
             for port in edge.ports(forward)]
    assert len(set(ports)) == 4
    assert [edge.transfers for edge in Pipeline.chain(stages(1, 1)).edges] == [[0, 0]]
