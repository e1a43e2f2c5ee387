# SPDX-License-Identifier: BSD-2-Clause
"""A training on a whole graph that boards share; the leader holds no more of it than others."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.cluster.description import Cluster
from hypercast.host.cluster.division import Division
from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.description.sampling import Sampling
from hypercast.host.description.source import Source
from hypercast.host.description.stopping import Stopping
from hypercast.host.graphs.graph_outline import GraphOutline
from hypercast.host.processes.child_process import in_child_process
from hypercast.host.processes.group import Group
from hypercast.host.schemes.board_devices import BoardDevices
from hypercast.host.schemes.share import Share
from hypercast.host.schemes.worker import Worker
from hypercast.host.training.numbers import TensorNumbers
from hypercast.host.training.training import Training
from hypercast.reference.array_types import IntArray
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.training_state import TrainingState

__all__ = ["DistributedTraining"]


class _Given(NamedTuple):
    """The choices of a training, and how boards share it; as ``Training`` takes them."""

    source: Source
    stopping: Stopping
    model: Model
    device: Device
    recipe: dict[str, Any]
    check: bool
    boards: int
    assignment: Assignment
    cluster: Cluster | None

    def training(self, progress: Callable[[str], None]) -> Training:
        """The training, prepared, with the whole graph."""
        progress("reading the graph")
        graph = self.source.load()
        self.stopping.check(graph)
        return Training(graph, self.model, self.device, Sampling(), self.recipe, check=self.check,
                        boards=self.boards, assignment=self.assignment, cluster=self.cluster,
                        progress=progress)


class _Prepared(NamedTuple):
    """The rest of a training that was prepared, without the boards' parts."""

    recipe: Recipe
    network: Network
    state: TrainingState
    identity: dict[str, Any]
    outline: GraphOutline
    order: IntArray


class DistributedTraining:
    """A training that a process of its own prepares, so that this one never has the whole graph.

    That process ends when all boards have their parts. It has what ``Trainer`` asks of a
    ``Training``.

    Parameters
    ----------
    source : Source
        Where the graph comes from.
    stopping, model, device, recipe, check, assignment, cluster
        As of ``Trainer``.
    boards : int
        How many train together.
    progress : callable
        Called with a line of text before each slow step.

    Attributes
    ----------
    recipe, network, state, identity, outline, order
        As of ``Training``.

    Raises
    ------
    DescriptionError, GraphError
        As ``Training`` does.
    ClusterError
        If the process that prepares it was ended.
    """

    samples = None

    def __init__(self, source: Source, stopping: Stopping, model: Model, device: Device,
                 recipe: dict[str, Any], *, check: bool, boards: int,
                 assignment: Assignment | None, cluster: Cluster | None,
                 progress: Callable[[str], None]) -> None:
        assignment = (assignment or Assignment()).complete(Sampling())
        self._progress = progress
        self._given = _Given(source, stopping, model, device, recipe, check, boards, assignment,
                             cluster)
        self._shares = in_child_process("prepares the graph", _prepare, self._given,
                                        progress=progress)
        prepared: _Prepared = next(self._shares)
        self._share: Share | None = None
        self.recipe, self.network, self.state, self.identity, self.outline, self.order = prepared

    @property
    def division(self) -> Division | None:
        """Which board has which vertex, of an open device, if boards have parts of the graph."""
        return self._share.division if self._share else None

    @property
    def assignment(self) -> Assignment:
        """How boards share it; its scheme is given."""
        return self._given.assignment

    def shares(self) -> Iterator[Any]:
        """The boards' shares of the graph, see ``graph_shares``; they can be had once."""
        return self._shares

    def open(self, group: Group) -> Worker:
        """The device, in the initial state; called once. Boards open theirs by their names."""
        given = self._given
        self._share = Share(group, given.assignment, given.cluster,
                            BoardDevices(given.device, self._progress))
        return self._share.lead_graph(self._shares)

    def close(self) -> None:
        """End the process that prepares it, if it has not."""
        self._shares.close()

    def numbers(self, state: TrainingState) -> list[TensorNumbers]:
        """As of ``Training``; another process prepares the whole graph once more for it."""
        found: list[TensorNumbers] = next(in_child_process(
            "tries a step of the whole graph", _numbers, self._given, state,
            progress=self._progress))
        return found

    def warn_of_saturation(self, state: Callable[[], TrainingState]) -> None:
        """Not here, where no process has the whole graph."""


def _prepare(given: _Given, *, progress: Callable[[str], None]) -> Iterator[Any]:
    """First what is kept, then what ``graph_shares`` gives."""
    training = given.training(progress)
    yield _Prepared(training.recipe, training.network, training.state, training.identity,
                    training.outline, training.order)
    yield from training.shares()


def _numbers(given: _Given, state: TrainingState, *,
             progress: Callable[[str], None]) -> Iterator[list[TensorNumbers]]:
    yield given.training(progress).numbers(state)
