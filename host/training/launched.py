# SPDX-License-Identifier: BSD-2-Clause
"""A training whose boards are processes that this one starts: it leads their leader."""

import enum
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.cluster.description import Cluster
from hypercast.host.cluster.division import Division
from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import Sampling
from hypercast.host.description.source import Source
from hypercast.host.graphs.graph import Graph
from hypercast.host.processes.board_processes import BoardProcesses
from hypercast.host.processes.child_process import Parent
from hypercast.host.processes.group import Group
from hypercast.host.processes.virtual_time import VirtualTime
from hypercast.host.runtime.chip import Chip
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.host.schemes.board_devices import BoardDevices
from hypercast.host.schemes.share import Share
from hypercast.host.schemes.worker import Worker
from hypercast.host.training.training import Training
from hypercast.reference.array_types import IntArray
from hypercast.reference.metrics import Metrics
from hypercast.reference.tensor import Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["Launched", "LaunchedDevice"]

#: What the leader asks for: the next share of the graph; and what it is told after the last one.
_NEXT, _LAST = "next share", "last share"


class _Request(enum.Enum):
    """Requests to the leader."""

    TRAIN = enum.auto()
    EVALUATE = enum.auto()
    SNAPSHOT = enum.auto()
    EXPONENTS = enum.auto()
    LOGITS = enum.auto()
    STATE = enum.auto()
    LOAD_STATE = enum.auto()
    TIME = enum.auto()
    CHIP = enum.auto()  # a value of its chip, by its name
    COUNT = enum.auto()  # its chip's cycles go on from others
    END = enum.auto()


class Launched(NamedTuple):
    """The arguments of the processes of a training.

    Parameters
    ----------
    device : Device
        What boards are.
    assignment : Assignment
        How they share the training; its scheme is given.
    cluster : Cluster, optional
        What they stand for.
    sampled : tuple, optional
        With samples, graph, model, sampling and recipe, as ``Training`` takes them; each process
        prepares it. Else the parts of the graph come one by one.
    """

    device: Device
    assignment: Assignment
    cluster: Cluster | None
    sampled: tuple[Graph | Source, Model, Sampling, dict[str, Any]] | None

    def run(self, group: Group, parent: Parent | None) -> None:
        """On each process: train with the others; the leader does as its caller says."""
        progress = parent.progress if parent else lambda text: None
        training: Training | None = None
        share = Share(group, self.assignment, self.cluster, BoardDevices(self.device, progress))
        if self.sampled:
            graph, model, sampling, recipe = self.sampled
            training = Training(
                graph.load() if isinstance(graph, Source) else graph, model, self.device, sampling,
                recipe, check=False, boards=group.size, assignment=self.assignment,
                cluster=self.cluster, progress=progress)
        if parent is None:
            if training:
                training.follow(group)
            else:
                share.follow_graph()
            return
        if training:
            device = training.open(group=group, waves=None, transport=None, progress=progress)
        else:
            device = share.lead_graph(_shares(parent))
        _serve(cast(Worker, device), share.division, parent)


def _run(group: Group, parent: Parent | None, launched: Launched) -> None:
    launched.run(group, parent)


def _shares(parent: Parent) -> Iterator[Any]:
    """The boards' shares of the graph, asked for one by one."""
    while True:
        parent.answer(_NEXT)
        found = parent.receive()
        if found == _LAST:
            return
        [value] = found
        yield value
        del found, value


def _serve(device: Worker, division: Division | None, parent: Parent) -> None:
    """Do what this is told to with the leader's device, until it is to be closed."""
    result: Any = division
    while True:
        parent.answer((result, device.saturations, device.chip is not None))
        request, arguments = parent.receive()
        if request is _Request.END:
            device.close()
            return
        result = _ANSWERS[request](device, *arguments)


def _chip_of(device: Worker) -> Chip:
    chip = device.chip
    assert chip
    return chip


#: How the leader does each of them, but for the end.
_ANSWERS: dict[_Request, Callable[..., Any]] = {
    _Request.TRAIN: Worker.train_step, _Request.EVALUATE: Worker.evaluate,
    _Request.SNAPSHOT: Worker.snapshot, _Request.EXPONENTS: Worker.exponents,
    _Request.LOGITS: Worker.logits, _Request.STATE: Worker.state,
    _Request.LOAD_STATE: Worker.load_state, _Request.TIME: Worker.virtual_time,
    _Request.CHIP: lambda device, name: getattr(_chip_of(device), name),
    _Request.COUNT: lambda device, *cycles: _chip_of(device).go_on_counting(*cycles)}


class _LaunchedChip:
    """The leader's chip, as far as it can be asked: its attributes are a ``Chip``'s."""

    profile = None  # which several boards do not keep

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def __getattr__(self, name: str) -> Any:
        return self._call(_Request.CHIP, name)

    def go_on_counting(self, *cycles: int) -> None:
        """Go on from the cycles of an earlier process."""
        self._call(_Request.COUNT, *cycles)


class LaunchedDevice(TrainingDevice):
    """The leader's device, in another process.

    Parameters
    ----------
    launched : Launched
        What boards are given.
    boards : int
        How many.
    seconds : float
        How long a board waits for another.
    shares : iterator, optional
        Without samples, what boards are given of the graph, as ``graph_shares`` gives it.
    progress : callable
        Called with a line of text before each slow step.
    hint : callable
        Gives what to do where a signal has ended all.

    Attributes
    ----------
    division : Division or None
        Which board has which vertex, if boards have parts of the graph.

    Raises
    ------
    ClusterError
        By every method, if a process has ended.
    """

    def __init__(self, launched: Launched, boards: int, seconds: float,
                 shares: Iterator[Any] | None, progress: Callable[[str], None],
                 hint: Callable[[], str]) -> None:
        progress(f"starting {boards} processes")
        self._processes = BoardProcesses(boards, seconds, _run, launched, progress=progress,
                                         hint=hint)
        try:
            while isinstance(found := self._processes.hear(), str):
                assert shares
                share = next(shares, _LAST)
                self._processes.say(share if share is _LAST else (share,))
                del share
        except BaseException:
            self._processes.kill()
            raise
        self.division: Division | None
        self.division, self.saturations, self._on_chip = found

    def _call(self, request: _Request, *arguments: Any) -> Any:
        self._processes.say((request, arguments))
        result, self.saturations, self._on_chip = self._processes.hear()
        return result

    def train_step(self, *, record: bool = False) -> Metrics:
        assert not record
        metrics: Metrics = self._call(_Request.TRAIN)
        return metrics

    def evaluate(self) -> Metrics:
        metrics: Metrics = self._call(_Request.EVALUATE)
        return metrics

    def snapshot(self) -> dict[str, IntArray]:
        found: dict[str, IntArray] = self._call(_Request.SNAPSHOT)
        return found

    def exponents(self) -> dict[Tensor, int]:
        found: dict[Tensor, int] = self._call(_Request.EXPONENTS)
        return found

    def logits(self) -> tuple[IntArray, int]:
        found: tuple[IntArray, int] = self._call(_Request.LOGITS)
        return found

    def state(self) -> TrainingState:
        state: TrainingState = self._call(_Request.STATE)
        return state

    def load_state(self, state: TrainingState) -> None:
        self._call(_Request.LOAD_STATE, state)

    def virtual_time(self) -> VirtualTime | None:
        """The ``VirtualTime`` so far, if boards stand for a cluster's boards."""
        found: VirtualTime | None = self._call(_Request.TIME)
        return found

    @property
    def chip(self) -> Chip | None:
        return cast(Chip, _LaunchedChip(self._call)) if self._on_chip else None

    def close(self) -> None:
        """End the processes."""
        self._processes.finish((_Request.END, ()))
