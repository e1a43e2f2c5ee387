# SPDX-License-Identifier: BSD-2-Clause
"""A training whose boards are processes that this one starts: it leads their leader."""

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
from hypercast.host.processes.board_processes import BoardProcesses, Telephone
from hypercast.host.processes.group import Group
from hypercast.host.processes.virtual_time import VirtualTime
from hypercast.host.runtime.chip import Chip
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.host.schemes.share import Share
from hypercast.host.schemes.shared_devices import SharedDevices
from hypercast.host.schemes.worker import Worker
from hypercast.host.training.training import Training
from hypercast.reference.array_types import IntArray
from hypercast.reference.metrics import Metrics
from hypercast.reference.tensor import Tensor
from hypercast.reference.training_state import TrainingState

__all__ = ["Launched", "LaunchedDevice"]

#: What the leader asks for: the next share of the graph.
_NEXT = "next share"
#: What the leader is told, besides names of its device's methods.
_END, _CHIP, _COUNT = "end", "chip", "count"


class Launched(NamedTuple):
    """What the processes of a training are given.

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

    def run(self, group: Group, telephone: Telephone | None) -> None:
        """On each process: train with the others, on the leader as it is told."""
        progress = telephone.progress if telephone else lambda text: None
        training: Training | None = None
        share = Share(group, self.assignment, self.cluster, SharedDevices(self.device, progress))
        if self.sampled:
            graph, model, sampling, recipe = self.sampled
            training = Training(
                graph.load() if isinstance(graph, Source) else graph, model, self.device, sampling,
                recipe, check=False, boards=group.size, assignment=self.assignment,
                cluster=self.cluster, progress=progress)
        if telephone is None:
            if training:
                training.follow(group)
            else:
                share.follow_graph()
            return
        if training:
            device = training.open(group=group, waves=None, transport=None, progress=progress)
        else:
            device = share.lead_graph(_shares(telephone))
        _serve(cast(Worker, device), share.division, telephone)


def _run(group: Group, telephone: Telephone | None, launched: Launched) -> None:
    launched.run(group, telephone)


def _shares(telephone: Telephone) -> Iterator[Any]:
    """What boards are given of the graph, asked for one by one."""
    while True:
        telephone.answer(_NEXT)
        found = telephone.receive()
        if found == _END:
            return
        [value] = found
        yield value
        del found, value


def _serve(device: Worker, division: Division | None, telephone: Telephone) -> None:
    """Call what this is told to of the leader's device, until it is to be closed."""
    result: Any = division
    while True:
        telephone.answer((result, getattr(device, "saturations", 0), device.chip is not None))
        name, arguments = telephone.receive()
        if name == _END:
            device.close()
            return
        if name == _CHIP:
            result = getattr(device.chip, *arguments)
        elif name == _COUNT:
            assert device.chip
            device.chip.go_on_counting(*arguments)
            result = None
        else:
            result = getattr(device, name)(*arguments)


class _LaunchedChip:
    """The leader's chip, as far as it can be asked: its attributes are those of a ``Chip``.
    """

    profile = None  # which several boards do not keep

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def __getattr__(self, name: str) -> Any:
        return self._call(_CHIP, name)

    def go_on_counting(self, *cycles: int) -> None:
        """Go on from the cycles of an earlier process."""
        self._call(_COUNT, *cycles)


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
                share = next(shares, _END)
                self._processes.say(share if share is _END else (share,))
                del share
        except BaseException:
            self._processes.kill()
            raise
        self.division: Division | None
        self.division, self.saturations, self._on_chip = found

    def _call(self, name: str, *arguments: Any) -> Any:
        self._processes.say((name, arguments))
        result, self.saturations, self._on_chip = self._processes.hear()
        return result

    def train_step(self, *, record: bool = False) -> Metrics:
        assert not record
        metrics: Metrics = self._call("train_step")
        return metrics

    def evaluate(self) -> Metrics:
        metrics: Metrics = self._call("evaluate")
        return metrics

    def snapshot(self) -> dict[str, IntArray]:
        found: dict[str, IntArray] = self._call("snapshot")
        return found

    def exponents(self) -> dict[Tensor, int]:
        found: dict[Tensor, int] = self._call("exponents")
        return found

    def logits(self) -> tuple[IntArray, int]:
        found: tuple[IntArray, int] = self._call("logits")
        return found

    def state(self) -> TrainingState:
        state: TrainingState = self._call("state")
        return state

    def load_state(self, state: TrainingState) -> None:
        self._call("load_state", state)

    def virtual_time(self) -> VirtualTime | None:
        """The ``VirtualTime`` so far, if boards stand for those of a cluster."""
        found: VirtualTime | None = self._call("virtual_time")
        return found

    @property
    def chip(self) -> Chip | None:
        return cast(Chip, _LaunchedChip(self._call)) if self._on_chip else None

    def close(self) -> None:
        """End the processes."""
        self._processes.finish((_END, ()))
