# SPDX-License-Identifier: BSD-2-Clause
"""The leader has all boards do the same, until it has failed or is closed."""

from unittest.mock import Mock, call

import pytest

from hypercast.host.cluster.cluster_error import ClusterError
from hypercast.host.processes.group import LoneGroup
from hypercast.host.runtime.passes import Message
from hypercast.host.schemes.actions import (
    Backward,
    Begin,
    End,
    Forward,
    LoadState,
    ReadState,
    Receive,
    Send,
    Sum,
    Update,
)
from hypercast.host.schemes.worker import Call, Request, Worker
from tests.host.processes.thread_group import on_ranks


class Scheme:
    """All boards load; the leader alone has the state."""

    def __init__(self, rank):
        self._rank = rank

    def load_state(self, state):
        yield from LoadState(state)

    def state(self):
        return None if self._rank else (yield from ReadState())

    def evaluate(self):
        return (yield from Sum(self._rank + 1))


def test_all_boards_do_what_the_leader_is_asked_for():
    def run(group):
        device = Mock()
        device.state.return_value = "b"
        worker = Worker(device, Scheme(group.rank), group)
        if group.rank:
            worker.follow()
        else:
            worker.load_state("a")
            assert worker.evaluate() == 6
            assert worker.state() == "b"
            assert worker.virtual_time() is None
            worker.close()
        return device.mock_calls

    leader, *others = on_ranks(3, run)
    assert leader[1:] == [call.load_state("a"), call.state(), call.close()]
    for found in others:
        assert found[1:] == [call.load_state("a"), call.close()]


def test_a_leader_that_failed_waits_for_nobody():
    group, device = Mock(size=2), Mock()
    device.load_state.side_effect = ArithmeticError("too large")
    worker = Worker(device, Scheme(0), group)
    with pytest.raises(ArithmeticError):
        worker.load_state("a")
    for ask in (worker.state, worker.evaluate, lambda: worker.load_state("b")):
        with pytest.raises(ClusterError, match=r"a board failed before.* start all boards again"):
            ask()
    worker.close()
    assert group.tell.mock_calls == [call(Call(Request.LOAD_STATE, "a"))]
    device.close.assert_called_once()


@pytest.mark.parametrize(("boards", "message"), [
    (2, "several boards keep no timeline of a chip; train on one"),
    (1, "several programs, of which no timeline is kept; train with one sample a step"),
])
def test_no_timeline(boards, message):
    with pytest.raises(ValueError, match=message):
        Worker(Mock(), None, Mock(size=boards)).train_step(record=True)


def test_what_device_and_group_are_told_in_which_order():
    """A clock begins a step before the device does, and ends it after; what is received before a
    pass is the pass's.
    """
    both = Mock()
    both.device.saturations = 7
    both.group.receive.side_effect = [Message({"H1": "rows"}), Message({"H2": "rows"})]
    passes = both.device.passes.return_value
    passes.message.return_value = "sent"

    def step():
        yield from Begin()
        yield from Receive(2)
        yield from Receive(1)
        yield from Forward(0, "sample", weights="weights")
        yield from Send(3, ["crossing"])
        yield from Backward(0, entries="entries")
        saturations = yield from Update("sums")
        yield from End()
        return saturations

    worker = Worker(both.device, None, both.group)
    assert worker.carry_out(step()) == 7
    assert both.mock_calls == [
        call.device.observe(both.group), call.group.begin_step(), call.device.begin_step(),
        call.group.receive(2), call.group.receive(1),
        call.device.passes("sample", training=True, step=None, entries=None, weights="weights"),
        call.device.passes().forward(Message({"H1": "rows", "H2": "rows"})),
        call.device.passes().message(["crossing"]), call.group.send(3, "sent"),
        call.device.passes().set_entries("entries"), call.device.passes().backward(Message()),
        call.device.update("sums", None), call.group.end_step()]


def test_a_step_whose_exponents_are_raised_later():
    both = Mock()
    Worker(both.device, None, both.group).carry_out(iter_of(Begin(raises=False)))
    assert call.group.begin_step() in both.mock_calls
    assert not both.device.begin_step.mock_calls


def iter_of(action):
    yield from action


def test_one_board_leads_nobody():
    device = Mock()
    worker = Worker(device, Scheme(0), LoneGroup())
    assert worker.saturations == 0
    worker.load_state("a")
    assert worker.evaluate() == 1 and worker.saturations == 0
    worker.close()
    device.close.assert_called_once()
