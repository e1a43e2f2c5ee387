# SPDX-License-Identifier: BSD-2-Clause
"""Virtual clocks: what messages and sums take on a cluster's links."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.cluster.description import Cluster
from hypercast.host.cluster.link import ClusterLink
from hypercast.host.cluster.reduction import reduction_seconds
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import Sampling
from hypercast.host.graphs.graph import Graph
from hypercast.host.processes.timed_group import Inlet, TimedGroup
from hypercast.host.processes.virtual_time import LayerSeconds, VirtualTime, write_timeline
from tests.host.processes.thread_group import on_ranks
from tests.host.schemes.trainings import train_on

#: Boards that write a gigabyte a second, ten microseconds away from each other in all.
CLUSTER = Cluster.of_sections({
    "boards": {"one": {"board": "vcu128", "count": 4, "host_gigabits": 80.0,
                       "host_microseconds": 2.0}},
    "links": {"network": {"gigabits": 8.0, "microseconds": 6.0}}})
LATENCY, BYTE = 10e-6, 1e-9
#: The same, but no board computes while rows pass.
WAITING = Cluster.of_sections({
    "boards": {"one": {"board": "vcu128", "count": 4, "host_gigabits": 80.0,
                       "host_microseconds": 2.0, "transfers": "waiting"}},
    "links": {"network": {"gigabits": 8.0, "microseconds": 6.0}}})


def seconds(sample, board):
    return [LayerSeconds(1e-3, 2e-3), LayerSeconds(3e-3, 4e-3)]


def timed(size, function, cluster=CLUSTER):
    """The virtual time of a step in which each rank calls ``function(group)``."""
    def run(group):
        group = TimedGroup(group, cluster, seconds)
        group.begin_step()
        function(group)
        group.end_step()
        return group.time()

    time, *others = on_ranks(size, run)
    assert others == [None] * (size - 1)
    return time


def test_a_board_computes():
    def step(group):
        if group.rank == 1:
            group.compute(None, range(1, 3), forward=True)
            group.compute(None, range(2, 3), forward=False)

    time = timed(2, step)
    assert time.computed == (0, pytest.approx(8e-3))
    assert time.waited == (0, 0)
    assert (time.seconds, time.alone) == (pytest.approx(8e-3), pytest.approx(8e-3))
    assert [interval.name for interval in time.intervals] == ["forward 1 to 2", "backward 2"]


def test_rows_wait_for_the_sender_and_its_port():
    """Two messages of one board follow each other; the receiver of the second waits for both."""
    def step(group):
        rows = {rank: np.zeros(1000 * rank, dtype=np.int8) for rank in (1, 2)}
        if group.rank == 0:
            group.compute(None, range(1, 2), forward=True)
            group.exchange(rows, {})
        else:
            group.exchange({}, {0: rows[group.rank]})

    time = timed(3, step)
    assert time.waited == (0, pytest.approx(1e-3 + 1000 * BYTE + LATENCY),
                           pytest.approx(1e-3 + 3000 * BYTE + LATENCY))


def test_messages_from_stage_to_stage():
    def step(group):
        if group.rank == 0:
            group.send(1, (np.zeros(2000, dtype=np.int16), 3, None))
        else:
            group.receive(0)

    assert timed(2, step).waited == (0, pytest.approx(4000 * BYTE + LATENCY))


def test_messages_of_two_boards_follow_each_other_into_a_third():
    def step(group):
        if group.rank:
            group.send(0, np.zeros(1000 * group.rank, dtype=np.int8))
        else:
            group.receive(2)
            group.receive(1)

    assert timed(3, step).waited == (pytest.approx(3000 * BYTE + LATENCY), 0, 0)


def test_sums_are_made_when_the_last_has_come():
    def step(group):
        if group.rank == 2:
            group.compute(None, range(1, 2), forward=False)
        assert group.sum(np.full(8, group.rank)).tolist() == [6] * 8

    time = timed(4, step)
    summing = reduction_seconds([ClusterLink(bandwidth=1 / BYTE, latency=LATENCY)], 4, 64)
    assert summing == pytest.approx(2 * (LATENCY + 64 * BYTE))
    assert time.seconds == pytest.approx(2e-3 + summing)
    assert time.waited[2] == pytest.approx(summing)
    assert time.waited[0] == pytest.approx(2e-3 + summing)


def test_what_is_no_step_takes_no_time():
    def run(group):
        group = TimedGroup(group, CLUSTER, seconds)
        group.sum(np.ones(4, dtype=np.int64))
        group.begin_step()
        group.compute(None, range(1, 2), forward=True)
        group.end_step()
        group.exchange({1 - group.rank: np.ones(9)}, {1 - group.rank: np.empty(9)})
        return group.time()

    assert on_ranks(2, run)[0].seconds == pytest.approx(1e-3)


def passing(way):
    """Rank 0 computes for 1 ms and rank 1 for 3 ms; then a kilobyte is exchanged, or sent."""
    def exchange(group):
        rows = np.zeros(1000, dtype=np.int8)
        group.compute(None, range(group.rank + 1, group.rank + 2), forward=True)
        group.exchange(*(({1: rows}, {}) if group.rank == 0 else ({}, {0: rows})))

    def send(group):
        group.compute(None, range(group.rank + 1, group.rank + 2), forward=True)
        if group.rank == 0:
            group.send(1, np.zeros(1000, dtype=np.int8))
        else:
            group.receive(0)

    return {"exchange": exchange, "send": send}[way]


@pytest.mark.parametrize("way", ["exchange", "send"])
def test_a_receiver_that_computes_meanwhile_does_not_wait(way):
    time = timed(2, passing(way))
    assert time.waited == (0, 0)
    assert time.seconds == pytest.approx(3e-3)


@pytest.mark.parametrize("way", ["exchange", "send"])
def test_a_receiver_that_cannot_compute_meanwhile_waits(way):
    """Rows pass when both have come: after 3 ms, though the sender was ready after 1 ms."""
    time = timed(2, passing(way), WAITING)
    assert time.waited[1] == pytest.approx(1000 * BYTE + LATENCY)
    assert time.seconds == pytest.approx(3e-3 + 1000 * BYTE + LATENCY)
    [sent] = [interval for interval in time.intervals if interval.name == "rows to one-1"]
    assert sent.track == "one-0, out" and sent.end - sent.begin == pytest.approx(1000 * BYTE)
    if way == "exchange":  # the sender takes part in it
        assert sent.begin == pytest.approx(3e-3)
        assert time.waited[0] == pytest.approx(2e-3 + 1000 * BYTE + LATENCY)
    else:
        assert time.waited[0] == pytest.approx(1000 * BYTE)


@pytest.mark.parametrize("cluster", [CLUSTER, WAITING], ids=["overlapped", "waiting"])
def test_a_receiver_that_comes_first_waits_for_the_sender(cluster):
    def step(group):
        if group.rank == 0:
            group.compute(None, range(1, 2), forward=True)
            group.send(1, np.zeros(1000, dtype=np.int8))
        else:
            group.receive(0)

    assert timed(2, step, cluster).waited[1] == pytest.approx(1e-3 + 1000 * BYTE + LATENCY)


def test_all_send_to_all_in_turns():
    """No port is used twice at the same time, and none is idle."""
    def step(group):
        others = [rank for rank in range(3) if rank != group.rank]
        group.exchange({rank: np.zeros(1000, dtype=np.int8) for rank in others},
                       {rank: np.zeros(1000, dtype=np.int8) for rank in others})

    assert timed(3, step).waited == tuple([pytest.approx(2000 * BYTE + LATENCY)] * 3)


def test_what_is_needed_later_is_waited_for_later():
    """From the second time on: the next step of the same name finds it there."""
    waited = {}

    def step(group):
        rows = np.zeros(5000, dtype=np.int8)
        for _ in range(3):
            group.ahead("halo")
            group.exchange(*(({1: rows}, {}) if group.rank == 0 else ({}, {0: rows})))
            waited.setdefault(group.rank, []).append(group._clock.waited)
        group.ahead("other")

    timed(2, step)
    first, second, third = waited[1]
    assert first == second == pytest.approx(5000 * BYTE + LATENCY)
    # For what the second time brought, right behind the first in the ports.
    assert third == pytest.approx(2 * 5000 * BYTE + LATENCY)
    assert waited[0] == [0, 0, 0]


@pytest.mark.parametrize("way", ["sum", "maximum"])
def test_sums_and_maxima_take_the_same_time(way):
    def step(group):
        found = getattr(group, way)(np.arange(8) * group.rank)
        assert found.tolist() == [{"sum": 3, "maximum": 2}[way] * number for number in range(8)]

    summing = reduction_seconds([ClusterLink(bandwidth=1 / BYTE, latency=LATENCY)], 3, 64)
    time = timed(3, step)
    assert time.seconds == pytest.approx(summing) and time.waited == (time.seconds,) * 3
    assert {(interval.track, interval.name) for interval in time.intervals} == {
        (f"one-{rank}, out", "sum") for rank in range(3)}


def test_cycles_take_the_time_of_the_boards_clock():
    """What the first board would have taken for them is the time of one board alone."""
    cluster = Cluster.of_sections({
        "boards": {"fast": {"board": "vcu128", "megahertz": 200.0},
                   "slow": {"board": "vcu128", "megahertz": 50.0}},
        "links": {"network": {"gigabits": 8.0}}})
    time = timed(2, lambda group: group.spend("train", 100_000 * (1 + group.rank)), cluster)
    assert time.computed == (pytest.approx(5e-4), pytest.approx(4e-3))
    assert time.alone == pytest.approx(15e-4)


def test_what_a_step_of_all_would_take_alone_can_be_told():
    def run(group):
        group = TimedGroup(group, CLUSTER, seconds)
        for _ in range(3):
            group.begin_step()
            group.divide(0.25)
            group.compute(None, range(1, 2), forward=True)
            group.end_step()
        return group.time()

    time = on_ranks(2, run)[0]
    assert (time.steps, time.alone) == (3, 0.75)
    assert len(time.intervals) == 2  # of the last step


def test_bytes_are_those_of_arrays_wherever_they_are():
    value = {"a": np.zeros(500, dtype=np.int16), "b": (np.zeros(250, dtype=np.int64), 7, None)}

    def step(group):
        if group.rank == 0:
            group.send(1, (value, "text"))
        else:
            found, text = group.receive(0)
            assert text == "text" and found.keys() == value.keys()

    assert timed(2, step).waited[1] == pytest.approx(3000 * BYTE + LATENCY)


def test_messages_between_steps_take_no_time():
    def run(group):
        group = TimedGroup(group, WAITING, seconds)
        if group.rank == 0:
            group.send(1, np.zeros(1000, dtype=np.int8))
        else:
            assert group.receive(0).shape == (1000,)
        assert group.maximum(np.array([group.rank])) == [1]
        group.begin_step()
        group.compute(None, range(1, 2), forward=True)
        group.end_step()
        return group.time()

    assert on_ranks(2, run)[0].waited == (0, 0)


def test_without_a_step_there_is_no_time():
    assert on_ranks(2, lambda group: TimedGroup(group, CLUSTER, seconds).time()) == [None, None]


def test_more_boards_than_the_cluster_has():
    with pytest.raises(DescriptionError, match="5 boards train, but the cluster has 4; take no"):
        on_ranks(5, lambda group: TimedGroup(group, CLUSTER, seconds))


def test_timeline(tmp_path):
    def step(group):
        group.compute(None, range(1, 2), forward=True)
        group.sum(np.ones(4, dtype=np.int64))

    time = timed(2, step)
    assert isinstance(time, VirtualTime)
    assert "ms a step, " in str(time) and "one-1" in str(time)
    write_timeline(tmp_path / "step.json", time)
    events = json.loads((tmp_path / "step.json").read_text())["traceEvents"]
    names = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    assert set(names.values()) == {"one-0", "one-1", "one-0, out", "one-1, out"}
    slices = [event for event in events if event["ph"] == "X"]
    assert {names[event["tid"]] for event in slices if event["name"] == "forward 1"} == {
        "one-0", "one-1"}
    assert all(event["dur"] > 0 for event in slices)


@pytest.mark.parametrize("options", [
    {"sampling": Sampling(sampler="neighbours", batch=8, fan_outs=(3,)), "micro_batches": 3},
    {}, {"assignment": Assignment(scheme="layers")}], ids=["samples", "graph", "layers"])
def test_clocks_change_no_bit_of_a_training(options):
    arguments = Graph.load("blocks"), Model(hidden=(6, 6), order="combine_first")
    found = train_on(3, *arguments, epochs=2, cluster=CLUSTER, **options)
    assert found == train_on(1, *arguments, epochs=2, **options)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), max_size=12))
def test_each_message_passes_as_soon_as_it_can(messages):
    inlet, busy = Inlet(), set()
    for ready, seconds in messages:
        begin = next(begin for begin in range(ready, 200)
                     if busy.isdisjoint(range(begin, begin + seconds)))
        assert inlet.arrival(ready, seconds) == begin + seconds
        busy |= {*range(begin, begin + seconds)}


def test_what_is_cleared_is_not_waited_for():
    inlet = Inlet()
    assert [inlet.arrival(0, 3), inlet.arrival(1, 3)] == [3, 6]
    inlet.clear()
    assert inlet.arrival(1, 3) == 4
