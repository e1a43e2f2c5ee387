# SPDX-License-Identifier: BSD-2-Clause
"""One of several boards that train together: it carries out its scheme's actions."""

import enum
from typing import Any, NamedTuple, TypeVar

from hypercast.errors import InputError
from hypercast.host.cluster.cluster_error import ClusterError
from hypercast.host.processes.group import Group
from hypercast.host.processes.virtual_time import VirtualTime
from hypercast.host.runtime.chip import Chip
from hypercast.host.runtime.epochs import Epochs
from hypercast.host.runtime.part_device import PartDevice
from hypercast.host.runtime.passes import Message, Passes
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.host.schemes.actions import (
    Action,
    Actions,
    Backward,
    Begin,
    End,
    Evaluate,
    Forward,
    Gather,
    LoadState,
    Maximum,
    ReadEntries,
    ReadLogits,
    ReadState,
    ReadWeights,
    Receive,
    Send,
    Sum,
    Through,
    Update,
    WriteEntries,
)
from hypercast.host.schemes.scheme import Scheme
from hypercast.reference.array_types import IntArray
from hypercast.reference.metrics import Metrics
from hypercast.reference.tensor import Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["Call", "Request", "Worker"]

Result = TypeVar("Result")


class Request(enum.Enum):
    """Requests of the leader to all boards."""

    TRAIN = enum.auto()
    EVALUATE = enum.auto()
    LOGITS = enum.auto()
    STATE = enum.auto()
    LOAD_STATE = enum.auto()
    TIME = enum.auto()
    END = enum.auto()


class Call(NamedTuple):
    """A call of the leader to the others.

    Attributes
    ----------
    request : Request
        What it asks for.
    state : TrainingState or None
        What they go on from, of ``LOAD_STATE``.
    """

    request: Request
    state: TrainingState | None = None


class Worker(TrainingDevice):
    """A board's share of a training. The leader's is the device of the whole of it.

    The leader has the others do each thing that it does; they ``follow``.

    Parameters
    ----------
    device : PartDevice
        What this board has.
    scheme : Scheme
        What it does.
    group : Group
        All boards.
    epochs : Epochs, optional
        The samples that are trained on, if not the whole graph.
    """

    def __init__(self, device: PartDevice, scheme: Scheme, group: Group,
                 epochs: Epochs | None = None) -> None:
        self._device = device
        self._scheme = scheme
        self._group = group
        self._epochs = epochs
        self._failed = False
        self._message = Message()  # that has come for the pass that follows
        self._passes: dict[int, Passes] = {}  # of units that have not come back
        self._last: Passes | None = None
        self.saturations = 0
        device.observe(group)

    # What the leader is asked for.

    def train_step(self, *, record: bool = False) -> Metrics:
        if record:
            raise InputError(
                "several boards keep no timeline of a chip; train on one" if self._group.size > 1
                else "a step on several samples is several programs, of which no timeline is kept; "
                     "train with one sample a step")
        metrics: Metrics = self._ask(Call(Request.TRAIN))
        return metrics

    def evaluate(self) -> Metrics:
        if self._epochs:
            return self._epochs.judge(self._state())
        metrics: Metrics = self._ask(Call(Request.EVALUATE))
        return metrics

    def logits(self) -> tuple[IntArray, int]:
        if self._epochs:
            return self._epochs.logits()
        found: tuple[IntArray, int] = self._ask(Call(Request.LOGITS))
        return found

    def state(self) -> TrainingState:
        state = self._state()
        return self._epochs.after_epochs(state) if self._epochs else state

    def _state(self) -> TrainingState:
        state: TrainingState = self._ask(Call(Request.STATE))
        return state

    def load_state(self, state: TrainingState) -> None:
        self._ask(Call(Request.LOAD_STATE, state))

    def virtual_time(self) -> VirtualTime | None:
        """The ``VirtualTime`` so far, if the group has a clock."""
        time: VirtualTime | None = self._ask(Call(Request.TIME))
        return time

    def close(self) -> None:
        """Let the other boards end; if something has failed, they are ended from outside."""
        if not self._failed:
            self._group.tell(Call(Request.END))
        self._device.close()

    def _ask(self, call: Call) -> Any:
        """Have all boards do something; returns what the leader found."""
        if self._failed and self._group.size > 1:
            raise ClusterError("a board failed before, so others may wait for something else; "
                               "start all boards again")
        try:
            self._group.tell(call)
            return self._answer(call)
        except BaseException:
            self._failed = True
            raise

    def snapshot(self) -> dict[str, IntArray]:
        return self._device.snapshot()

    def exponents(self) -> dict[Tensor, int]:
        return self._device.exponents()

    @property
    def chip(self) -> Chip | None:
        return self._device.chip

    # What all boards do.

    def follow(self) -> None:
        """On other boards than the leader's: do what it asks for, until it is closed."""
        while (call := self._group.tell()).request is not Request.END:
            self._answer(call)
        self._device.close()

    def _answer(self, call: Call) -> Any:
        scheme = self._scheme
        match call.request:
            case Request.TRAIN:
                return self._train()
            case Request.EVALUATE:
                return self.carry_out(scheme.evaluate())
            case Request.LOGITS:
                return self.carry_out(scheme.logits())
            case Request.STATE:
                return self.carry_out(scheme.state())
            case Request.LOAD_STATE:
                assert call.state
                state = self._epochs.go_on_from(call.state) if self._epochs else call.state
                return self.carry_out(scheme.load_state(state))
            case Request.TIME:
                return self._group.time()
        raise AssertionError(call)

    def _train(self) -> Metrics:
        scheme, epochs = self._scheme, self._epochs
        steps, sizes = (epochs.steps(scheme.own), epochs.sizes) if epochs else (
            iter([[scheme.sample]]), [1])
        trained = self.carry_out(scheme.train(steps, sizes))
        self.saturations = trained.saturations
        return trained.metrics

    def carry_out(self, actions: Actions[Result]) -> Result:
        """Carry out actions, one after another; returns what their generator does."""
        found = None
        while True:
            try:
                action = actions.send(found)
            except StopIteration as end:
                result: Result = end.value
                return result
            found = self._do(action)

    def _do(self, action: Action[Any]) -> Any:
        device, group = self._device, self._group
        match action:
            case Begin():
                group.begin_step()
                if action.raises:
                    device.begin_step()
            case Through():
                return device.step_sums(action.sample)
            case Receive():
                self._message |= group.receive(action.source)
            case Forward():
                passes = device.passes(
                    action.sample, training=action.training, step=action.step,
                    entries=action.entries, weights=action.weights)
                passes.forward(self._take())
                if action.training:
                    self._passes[action.unit] = passes
                self._last = passes
                return passes
            case Backward():
                passes = self._last = self._passes.pop(action.unit)
                if action.entries is not None:
                    passes.set_entries(action.entries)
                passes.backward(self._take())
                return passes
            case Send():
                assert self._last
                group.send(action.target, self._last.message(action.crossings))
            case Update():
                device.update(action.sums, action.begun)
                return device.saturations
            case End():
                group.end_step()
            case Evaluate():
                return device.evaluate()
            case ReadEntries():
                return device.entries()
            case WriteEntries():
                device.set_entries(action.entries)
            case ReadWeights():
                return device.operands()
            case ReadLogits():
                return device.logits()
            case ReadState():
                return device.state()
            case LoadState():
                device.load_state(action.state)
            case Sum():
                return group.sum(action.values)
            case Maximum():
                return group.maximum(action.values)
            case Gather():
                return group.gather(action.value)
            case _:
                raise AssertionError(action)
        return None

    def _take(self) -> Message:
        """Take the message that has come for a pass."""
        message, self._message = self._message, Message()
        return message
