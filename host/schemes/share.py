# SPDX-License-Identifier: BSD-2-Clause
"""Opens the devices of boards that share a training: the leader's, and those of the others."""

from collections.abc import Callable, Iterator
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
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.host.schemes.board_memory import check_boards
from hypercast.host.schemes.chunk_rows import chunks_of, in_rows_of_chunks
from hypercast.host.schemes.chunks_in_pipeline import ChunksInPipeline
from hypercast.host.schemes.graph_in_parallel import GraphInParallel, StaleGraphInParallel
from hypercast.host.schemes.layer_seconds import layer_seconds
from hypercast.host.schemes.layers_in_pipeline import LayersInPipeline, SampledPipeline
from hypercast.host.schemes.led_device import LedDevice, follow
from hypercast.host.schemes.older_weights_pipeline import (
    OlderWeightsPipeline,
    SampledOlderWeightsPipeline,
)
from hypercast.host.schemes.sample_source import SampleSource
from hypercast.host.schemes.samples_in_parallel import SamplesInParallel
from hypercast.host.schemes.shared_devices import SharedDevices
from hypercast.host.schemes.sharing import agree, versions
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.judge import Judge

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

    def lead_graph(self, shares: Iterator[Any]) -> LedDevice:
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
        return LedDevice(self._of_graph(own, group), group)

    def follow_graph(self) -> None:
        """On other ranks: train with the leader until its device is closed."""
        agree(self._group, {"version": versions()})
        model: InitialModel = self._group.tell() if self._scheme == LAYERS else self._group.deal()
        group = self._on_cluster(model)
        follow(self._of_graph(model, group), group)

    def lead_samples(self, *arguments: Any) -> LedDevice:
        """The leader's device, for a training on samples; arguments as of ``follow_samples``."""
        return LedDevice(*self._of_samples(*arguments))

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
        follow(*self._of_samples(model, identity, source, judge))

    def _of_samples(self, model: InitialModel, identity: dict[str, Any], source: SampleSource,
                    judge: Callable[[], Judge]) -> tuple[TrainingDevice, Group]:
        agree(self._group, {"version": versions(), **identity,
                            "prepared": {"sha256": _digest(model)}})
        check_boards(model, self._assignment, self._cluster, self._group.size)
        group = self._on_cluster(model)
        parts = source, judge, model.recipe.micro_batches
        if self._scheme == LAYERS:
            stale = self._assignment.stale
            return (SampledOlderWeightsPipeline if stale else SampledPipeline)(
                self._pipeline(model, group, source.capacity), *parts), group
        device = self._devices.of_samples(model, group, source.capacity)
        return SamplesInParallel(device, *parts, group, self._assignment.micro_batches), group

    def _of_graph(self, model: InitialModel, group: Group) -> TrainingDevice:
        if self._scheme == LAYERS:
            return self._pipeline(model, group)
        stale = self._assignment.stale
        return (StaleGraphInParallel if stale else GraphInParallel)(
            self._devices.of_rows(model, group), model, group)

    def _pipeline(self, model: InitialModel, group: Group,
                  capacity: Callable[[], Capacity] | None = None) -> LayersInPipeline:
        assignment = self._assignment
        runs = runs_of_layers(model.network, model.sample, group.size, assignment.runs)
        if assignment.chunks:
            model = in_rows_of_chunks(model)
            chunks = [*chunks_of(model.sample)]
            return ChunksInPipeline(self._devices.of_chunks(model, group, runs[group.rank], chunks),
                                    model, group, runs, chunks)
        staleness = weight_staleness(assignment, model)
        if staleness:
            device = self._devices.of_older_weights(
                model, group, runs[group.rank], capacity, staleness)
            return OlderWeightsPipeline(
                device, model, group, staleness, runs, assignment.in_flight)
        device = self._devices.of_layers(model, group, runs[group.rank], capacity)
        return LayersInPipeline(device, model, group, runs, assignment.in_flight)

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
