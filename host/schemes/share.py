# SPDX-License-Identifier: BSD-2-Clause
"""Each board's share of a training that several share, and the device that it opens."""

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from hypercast.host.cluster.assignment import LAYERS, Assignment
from hypercast.host.cluster.balanced_runs import runs_of_layers
from hypercast.host.cluster.description import Cluster
from hypercast.host.cluster.division import Division
from hypercast.host.cluster.weight_staleness import weight_staleness
from hypercast.host.compiler.sample_capacity import Capacity
from hypercast.host.processes.group import Group
from hypercast.host.processes.timed_group import TimedGroup, boards_of
from hypercast.host.runtime.epochs import Epochs
from hypercast.host.schemes.agreement import agree, model_digest, versions
from hypercast.host.schemes.board_devices import BoardDevices
from hypercast.host.schemes.board_memory import check_boards
from hypercast.host.schemes.chunks_in_pipeline import ChunksInPipeline
from hypercast.host.schemes.graph_in_parallel import GraphInParallel
from hypercast.host.schemes.graph_parts import divide, in_chunks, parts_of, split_in_chunks
from hypercast.host.schemes.layer_seconds import layer_seconds
from hypercast.host.schemes.layers_in_pipeline import LayersInPipeline
from hypercast.host.schemes.older_weights_pipeline import OlderWeightsPipeline
from hypercast.host.schemes.sample_source import SampleSource
from hypercast.host.schemes.samples_in_parallel import SamplesInParallel
from hypercast.host.schemes.worker import Worker
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.judge import Judge
from hypercast.reference.sample import Sample

__all__ = ["GraphShares", "Share", "graph_shares"]


class GraphShares(NamedTuple):
    """How boards share a whole graph.

    Attributes
    ----------
    division : Division or None
        Which board has which vertex, if boards have parts of it.
    alone : float
        Seconds that the first board of a cluster would take for a step alone; 0 without a cluster.
    """

    division: Division | None
    alone: float


def graph_shares(model: InitialModel, assignment: Assignment, cluster: Cluster | None,
                 boards: int) -> Iterator[Any]:
    """First the ``GraphShares``, then what ranks are given, one after another.

    With layers, that is one model, which all of them have. Else it is a model for each of them,
    pickled, whose sample is its part of the graph.

    Parameters
    ----------
    model : InitialModel
        The whole model.
    assignment : Assignment
        How boards share it; its scheme is given.
    cluster : Cluster, optional
        The boards.
    boards : int
        How many of them train.

    Raises
    ------
    ClusterError, DescriptionError
        If boards cannot share it, or do not hold their shares.
    """
    division = None
    if assignment.scheme != LAYERS:
        division = divide(model, boards, assignment.parts)
    check_boards(model, assignment, cluster, boards, division)
    alone = 0.0
    if cluster and division:
        seconds = layer_seconds(model.network, cluster, adam=model.recipe.optimiser == "adam")
        alone = sum(map(sum, seconds(model.sample, 0)))
    yield GraphShares(division, alone)
    if division is None:
        yield in_chunks(model, assignment.chunks) if assignment.chunks else model
        return
    for part in parts_of(model.sample, division, assignment.kept_smoothing):
        yield pickle.dumps(replace(model, sample=part), protocol=pickle.HIGHEST_PROTOCOL)


class Share:
    """A rank's share of a training.

    Parameters
    ----------
    group : Group
        The ranks; all of them call the same methods.
    assignment : Assignment
        How they share it; its scheme is given.
    cluster : Cluster, optional
        The boards that they stand for, or among which these are.
    devices : BoardDevices, optional
        What ranks are; references if not given.

    Attributes
    ----------
    division : Division or None
        On the leader, which board has which vertex, once a graph in parallel is open.
    """

    def __init__(self, group: Group, assignment: Assignment,
                 cluster: Cluster | None = None,
                 devices: BoardDevices | None = None) -> None:
        self._group = group
        self._assignment = assignment
        self._scheme = assignment.scheme
        self._cluster = cluster.only(assignment.boards) if cluster else None
        self._devices = (devices or BoardDevices()).on(self._cluster)
        self.division: Division | None = None

    def lead_graph(self, shares: Iterator[Any]) -> Worker:
        """The leader's device, for a training on a whole graph; gives the others their parts.

        Parameters
        ----------
        shares : iterator
            As ``graph_shares`` gives them.
        """
        agree(self._group, {"version": versions()})
        self.division, alone = next(shares)
        own: InitialModel = self._group.tell(next(shares)) if self._scheme == LAYERS else \
            self._group.deal(shares)
        next(shares, None)  # there are no more, so nobody holds the whole graph for them
        group = self._on_cluster(own)
        if alone:
            group.divide(alone)
        return self._of_graph(own, group)

    def follow_graph(self) -> None:
        """On other ranks: train with the leader until its device is closed."""
        agree(self._group, {"version": versions()})
        model: InitialModel = self._group.tell() if self._scheme == LAYERS else self._group.deal()
        group = self._on_cluster(model)
        self._of_graph(model, group).follow()

    def open_samples(self, model: InitialModel, identity: dict[str, Any], source: SampleSource,
                     judge: Callable[[], Judge]) -> Worker:
        """This rank's device, for a training on samples; others than the leader ``follow``.

        Parameters
        ----------
        model : InitialModel
            The model, the same on all ranks.
        identity : dict
            What decides the bits of the training.
        source : SampleSource
            Where the samples come from.
        judge : callable
            Makes what evaluates.
        """
        agree(self._group, {"version": versions(), **identity,
                            "prepared": {"sha256": model_digest(model)}})
        check_boards(model, self._assignment, self._cluster, self._group.size)
        group, count = self._on_cluster(model), model.recipe.micro_batches
        epochs = Epochs(source, judge, count)
        if self._scheme == LAYERS:
            return self._pipeline(model, group, source.capacity, epochs)
        counts = self._assignment.micro_batches or [
            len(range(rank, count, group.size)) for rank in range(group.size)]
        return Worker(self._devices.of_samples(model, group, source.capacity),
                      SamplesInParallel(model, group.rank, counts), group, epochs)

    def _of_graph(self, model: InitialModel, group: Group) -> Worker:
        if self._scheme == LAYERS:
            return self._pipeline(model, group)
        device = self._devices.of_rows(model, group)
        return Worker(device, GraphInParallel(model, group.rank), group)

    def _pipeline(self, model: InitialModel, group: Group,
                  capacity: Callable[[], Capacity] | None = None,
                  epochs: Epochs | None = None) -> Worker:
        assignment, rank = self._assignment, group.rank
        runs = runs_of_layers(model.network, model.sample, group.size, assignment.runs)
        chunks: Sequence[Sample] = ()
        scheme: LayersInPipeline
        if assignment.chunks:
            model, chunks = split_in_chunks(model)
            scheme = ChunksInPipeline(model, rank, runs, chunks)
        else:
            overlapping = epochs and assignment.older_weights
            scheme = (OlderWeightsPipeline if overlapping else LayersInPipeline)(
                model, rank, runs, assignment.in_flight, weight_staleness(assignment, model))
        device = self._devices.of_layers(model, group, runs[rank], capacity, chunks)
        return Worker(device, scheme, group, epochs)

    def _on_cluster(self, model: InitialModel) -> Group:
        """The group, with clocks if it stands for the boards of a cluster."""
        if self._cluster is None:
            return self._group
        boards = boards_of(self._cluster, self._group.size)
        self._devices.check_board(self._group.rank, boards[self._group.rank])
        return TimedGroup(self._group, self._cluster, layer_seconds(
            model.network, self._cluster, adam=model.recipe.optimiser == "adam"))
