"""Opens the devices of boards that share a training: the leader's, and those of the others."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.cluster.chunks_in_pipeline import ChunksInPipeline
from hypercast.host.cluster.description import Cluster
from hypercast.host.cluster.division import Division
from hypercast.host.cluster.graph_in_parallel import GraphInParallel, StaleGraphInParallel
from hypercast.host.cluster.graph_parts import in_chunks, parts_of
from hypercast.host.cluster.group import ClusterError, Group
from hypercast.host.cluster.layers_in_pipeline import (
    LayersInPipeline,
    SampledPipeline,
    runs_of_layers,
)
from hypercast.host.cluster.led_device import LedDevice, follow
from hypercast.host.cluster.older_weights_pipeline import (
    OlderWeightsPipeline,
    SampledOlderWeightsPipeline,
)
from hypercast.host.cluster.samples_in_parallel import SamplesInParallel
from hypercast.host.cluster.timed_group import TimedGroup, boards_of
from hypercast.host.cluster.vertex_work import vertex_work
from hypercast.host.cluster.weight_staleness import weight_staleness
from hypercast.host.compiler.sample_plan import Capacity
from hypercast.host.runtime.devices import TrainingDevice
from hypercast.host.training.board_memory import check_board_memory
from hypercast.host.training.layer_seconds import layer_seconds
from hypercast.host.training.sample_source import SampleSource
from hypercast.host.training.shared_devices import SharedDevices
from hypercast.host.training.sharing import GRAPH, LAYERS, agree, smoothing_of
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
    devices : list of str
        Name of each rank's device.
    division : Division or None
        On the leader, which board has which vertex, once a graph in parallel is open.
    """

    def __init__(self, group: Group, assignment: Assignment,
                 cluster: Cluster | None = None,
                 devices: SharedDevices | None = None) -> None:
        self._group = group
        self._assignment = assignment
        self._scheme = assignment.scheme
        self._cluster = cluster.only(assignment.boards) if cluster and assignment.boards \
            else cluster
        self._devices = (devices or SharedDevices()).on(self._cluster)
        self.devices = [self._devices.name(rank) for rank in range(group.size)]
        self.division: Division | None = None

    def lead_graph(self, model: InitialModel) -> LedDevice:
        """The leader's device, for a training on a whole graph; gives the others their parts."""
        agree(self._group, {})
        if self._scheme == GRAPH:
            # The bits of stale halos follow from shares of the edges alone.
            work = 0 if self._assignment.stale else vertex_work(model.network)
            self.division = Division.of(model.sample.edges[0], self._group.size,
                                        self._assignment.parts, work)
        self._check_memory(model)
        if self._scheme == LAYERS:
            own: InitialModel = self._group.tell(self._in_chunks(model))
        else:
            assert self.division
            own = self._group.deal(
                replace(model, sample=part) for part in parts_of(
                    model.sample, self.division, smoothing_of(self._assignment)))
        group = self._on_cluster(model)
        if self._scheme == GRAPH:
            group.divide(model.sample)
        return LedDevice(self._of_graph(own, group), group)

    def _in_chunks(self, model: InitialModel) -> InitialModel:
        """The model, whose graph is in chunks if boards are to take them one after another."""
        if not self._assignment.chunks:
            return model
        return model.with_sample(in_chunks(model.sample, self._assignment.chunks))

    def follow_graph(self) -> None:
        """On other ranks: train with the leader until its device is closed."""
        agree(self._group, {})
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
        agree(self._group, identity)
        self._check_memory(model)
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
        runs = assignment.runs or runs_of_layers(model.network, model.sample, group.size)
        if assignment.chunks:
            return ChunksInPipeline(model, group, runs)
        staleness = weight_staleness(assignment, model)
        if staleness:
            return OlderWeightsPipeline(model, group, staleness, runs, assignment.in_flight)
        device = self._devices.of_layers(model, group, runs[group.rank], capacity)
        return LayersInPipeline(device, model, group, runs, assignment.in_flight)

    def _check_memory(self, model: InitialModel) -> None:
        """Refuse what boards cannot share, or do not hold."""
        runs: Sequence[range] = ()
        if self._scheme == LAYERS:
            runs = self._assignment.runs or runs_of_layers(
                model.network, model.sample, self._group.size)
        if self._assignment.older_weights and model.network.jumping:
            raise ClusterError(
                f"with jumping knowledge, the outputs of layers "
                f"{', '.join(map(str, model.network.jumping))} have one exponent, for which boards "
                f"wait for each other in every step; boards with older weights do not, so leave "
                f"--jumping out, or train without --staleness")
        if self._assignment.older_weights and model.network.initial:
            raise ClusterError(
                "with an initial residual, the gradients of layer 1's outputs have one exponent, "
                "for which boards wait for each other in every step; boards with older weights do "
                "not, so take another model, or train without --staleness")
        if self._cluster:
            check_board_memory(model, self._cluster, boards=self._group.size, runs=runs,
                               in_flight=self._assignment.in_flight, division=self.division,
                               stale=self._assignment.stale,
                               staleness=weight_staleness(self._assignment, model))

    def _on_cluster(self, model: InitialModel) -> Group:
        """The group, with clocks if it stands for the boards of a cluster."""
        if self._cluster is None:
            return self._group
        boards = boards_of(self._cluster, self._group.size)
        self._devices.check_board(self._group.rank, boards[self._group.rank])
        return TimedGroup(self._group, self._cluster, layer_seconds(
            model.network, self._cluster, adam=model.recipe.optimiser == "adam"))
