# SPDX-License-Identifier: BSD-2-Clause
"""Opens the devices of boards that share a training: the leader's, and those of the others."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from hypercast.host.cluster.assignment import LAYERS, Assignment
from hypercast.host.cluster.balanced_runs import runs_of_layers
from hypercast.host.cluster.description import Cluster
from hypercast.host.cluster.division import Division
from hypercast.host.cluster.weight_staleness import weight_staleness
from hypercast.host.compiler.sample_plan import Capacity
from hypercast.host.files.array_digest import array_digest
from hypercast.host.processes.group import Group
from hypercast.host.processes.timed_group import TimedGroup, boards_of
from hypercast.host.runtime.epochs import Epochs
from hypercast.host.schemes.board_memory import check_boards
from hypercast.host.schemes.chunks_in_pipeline import ChunksInPipeline
from hypercast.host.schemes.graph_in_parallel import GraphInParallel
from hypercast.host.schemes.graph_parts import split_in_chunks
from hypercast.host.schemes.layer_seconds import layer_seconds
from hypercast.host.schemes.layers_in_pipeline import LayersInPipeline
from hypercast.host.schemes.older_weights_pipeline import OlderWeightsPipeline
from hypercast.host.schemes.sample_source import SampleSource
from hypercast.host.schemes.samples_in_parallel import SamplesInParallel
from hypercast.host.schemes.shared_devices import SharedDevices
from hypercast.host.schemes.sharing import agree, versions
from hypercast.host.schemes.worker import Worker
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.judge import Judge
from hypercast.reference.sample import Sample

__all__ = ["Share"]


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
    devices : SharedDevices, optional
        What ranks are; references if not given.

    Attributes
    ----------
    division : Division or None
        On the leader, which board has which vertex, once a graph in parallel is open.
    """

    def __init__(self, group: Group, assignment: Assignment,
                 cluster: Cluster | None = None,
                 devices: SharedDevices | None = None) -> None:
        self._group = group
        self._assignment = assignment
        self._scheme = assignment.scheme
        self._cluster = cluster.only(assignment.boards) if cluster else None
        self._devices = (devices or SharedDevices()).on(self._cluster)
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

    def lead_samples(self, *arguments: Any) -> Worker:
        """The leader's device, for a training on samples; arguments as of ``follow_samples``."""
        return self._of_samples(*arguments)

    def follow_samples(self, model: InitialModel, identity: dict[str, Any], source: SampleSource,
                       judge: Callable[[], Judge]) -> None:
        """On other ranks: train with the leader until its device is closed.

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
        self._of_samples(model, identity, source, judge).follow()

    def _of_samples(self, model: InitialModel, identity: dict[str, Any], source: SampleSource,
                    judge: Callable[[], Judge]) -> Worker:
        agree(self._group, {"version": versions(), **identity,
                            "prepared": {"sha256": _digest(model)}})
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


def _digest(model: InitialModel) -> str:
    """A digest of what a graph, a network and a recipe became: the integers of the first step."""
    sample, state = model.sample, model.state
    exponents = [sample.edge_exponent, sample.features.exponent, sorted(
        (str(name), values) for name, values in state.exponents.items())]
    return array_digest(
        *sample.edges, sample.features.values, sample.labels, sample.splits, sample.loss_weights,
        *(arrays[kind] for arrays in state.parameters.values() for kind in sorted(arrays)),
        np.frombuffer(repr(exponents).encode(), np.uint8))
