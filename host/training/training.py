# SPDX-License-Identifier: BSD-2-Clause
"""A training that is prepared for devices, alone or of several boards."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from hypercast.host.cluster.assignment import Assignment
from hypercast.host.cluster.description import Cluster
from hypercast.host.cluster.division import Division
from hypercast.host.cluster.weight_staleness import weight_staleness
from hypercast.host.compiler.compiled_edges import CompiledEdges
from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.description.device import ON_DEVICE, Device
from hypercast.host.description.model import Model
from hypercast.host.description.recipe import check_layer_numbers, make_recipe
from hypercast.host.description.sampling import Sampling
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.graph_outline import GraphOutline
from hypercast.host.graphs.interchange.weights import load_weights
from hypercast.host.graphs.rank_order import rank_order
from hypercast.host.processes.group import Group, LoneGroup
from hypercast.host.runtime.check import Check
from hypercast.host.runtime.chip import Chip
from hypercast.host.runtime.chip_judge import ChipJudge
from hypercast.host.runtime.chip_transport import open_transport
from hypercast.host.runtime.epochs import AHEAD_STEPS, Epochs
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.runtime.single_device import SingleDevice
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.host.schemes.board_devices import BoardDevices, open_part
from hypercast.host.schemes.graph_parts import in_chunks, in_stale_parts
from hypercast.host.schemes.sample_source import SampleSource
from hypercast.host.schemes.samples_in_parallel import SamplesInParallel
from hypercast.host.schemes.share import Share, graph_shares
from hypercast.host.schemes.worker import Worker
from hypercast.host.training.checkpoint import identity
from hypercast.host.training.kept_staleness import staleness_of
from hypercast.host.training.numbers import TensorNumbers, step_numbers, warn_of_saturation
from hypercast.host.training.ordering import ordered_for_graph, ordered_for_samples
from hypercast.host.training.prepare import (
    Prepared,
    loss_of,
    open_device,
    prepare,
    prepare_for,
    prepare_sampled,
    training_data,
)
from hypercast.host.training.rounding import check_edges, check_features, check_rates, check_weights
from hypercast.host.transport.transport import Transport
from hypercast.reference.array_types import IntArray
from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.judge import Judge
from hypercast.reference.older_weights import OlderWeightsGnn
from hypercast.reference.sample import Sample
from hypercast.reference.training_state import TrainingState
from hypercast.sim.waves import Waves

__all__ = ["Training"]


class Training:
    """All that decides the bits of a training, checked and prepared, before its first step.

    Parameters
    ----------
    graph, model, device, sampling
        As of ``Trainer``, all of them given.
    recipe : dict
        How to train, as ``Trainer`` takes it.
    check : bool
        Whether its device compares every tensor with the reference.
    boards : int, optional
        How many processes train together, a board each; none if there is only one.
    assignment, cluster
        As of ``Trainer``.
    progress : callable
        Called with a line of text before each slow step.
    chip : bool
        Whether there is a chip, whatever the device's name is.

    Attributes
    ----------
    recipe : Recipe
        How to train.
    network : Network
        The network that is trained.
    initial : InitialModel
        It, before the first step.
    samples : SampleSource or None
        What its steps work on, if not on the whole graph.

    Raises
    ------
    DescriptionError
        If a value makes no sense.
    GraphError
        If the graph cannot be trained on.
    """

    def __init__(self, graph: Graph, model: Model, device: Device, sampling: Sampling,
                 recipe: dict[str, Any], *, check: bool, boards: int | None,
                 assignment: Assignment | None, cluster: Cluster | None,
                 progress: Callable[[str], None], chip: bool = False) -> None:
        self._graph, self._device, self._sampling, self._check = graph, device, sampling, check
        self._progress = progress
        self.recipe = make_recipe(recipe, model, device.config, loss_of(graph)).explicit()
        check_rates(self.recipe)
        check_features((graph.with_normalised_features() if self.recipe.normalise_features
                        else graph).features, self.recipe.element_width)
        network = model.network(graph)
        check_layer_numbers(network, self.recipe, sampling)
        self._weights = load_weights(Path(model.weights), network, self.recipe.gin_epsilon) \
            if model.weights else None
        if self._weights and model.weights:
            check_weights(self._weights, model.weights)
        self._share: Share | None = None
        assignment = (assignment or Assignment()).check(
            self.recipe, sampling, device, boards or 1, network=network, check=check, chip=chip)
        #: With stale halos, how they are; in one process, too.
        self._stale = None if assignment.smoothing is None else replace(
            assignment, parts=assignment.parts or (1.0,) * (boards or 1))
        self._assignment, self._boards = assignment, boards
        self._cluster = cluster.only(assignment.boards) if cluster else None
        if boards:
            BoardDevices(device, progress).on(self._cluster)  # refuses two kinds of devices
        self.samples = SampleSource(graph, network, self.recipe, sampling, progress=progress) \
            if sampling.sampler else None
        config = device.config if model.fastest else None
        if model.chosen and not model.fastest:
            progress("choosing the order of products")
            network = ordered_for_samples(network, self.samples, self.recipe) if self.samples \
                else ordered_for_graph(network, graph, self.recipe.element_width)
        if self.samples:
            prepared = prepare_sampled(self.samples, network, self.recipe, config, self._weights,
                                       progress=progress)
        elif config is None:
            prepared = Prepared(prepare(graph, network, self.recipe, None, self._weights,
                                        progress=progress))
        else:
            prepared = prepare_for(config, graph, network, self.recipe, self._weights,
                                   progress=progress)
        self.initial, self._edges = prepared
        check_edges(self.initial.sample)
        self.network = self.initial.network
        #: By how many steps the weights of each layer are older, in one process, too.
        self._older = weight_staleness(assignment, self.initial)

    @property
    def edges(self) -> CompiledEdges | None:
        """The whole graph's, compiled for whatever takes them; of samples, the first one's, if they
        were compiled to choose orders for the chip.
        """
        if self._edges is None and self.samples is None:
            sample = self.initial.sample
            self._edges = CompiledEdges.of_any_order(
                self.network, sample.edges, sample.root_weight, self._device.config,
                progress=self._progress)
        return self._edges

    @property
    def identity(self) -> dict[str, Any]:
        """The properties that decide the bits, as checkpoints name them."""
        return identity(self._graph, self.network, self.recipe, self._weights,
                        self._sampling if self.samples else None,
                        staleness=staleness_of(self._stale or self._assignment, self._older))

    @property
    def division(self) -> Division | None:
        """Which board has which vertex, of an open device, if boards share the graph."""
        return self._share.division if self._share else None

    @property
    def assignment(self) -> Assignment:
        """How boards share it; its scheme is given."""
        return self._assignment

    def shares(self) -> Iterator[Any]:
        """The shares of boards that share the whole graph, see ``graph_shares``."""
        assert self._boards
        return graph_shares(self.initial, self._assignment, self._cluster, self._boards)

    @property
    def state(self) -> TrainingState:
        """The state before the first step."""
        return self.initial.state

    @property
    def outline(self) -> GraphOutline:
        """The outline of the graph, without edges and features."""
        graph = self._graph
        return GraphOutline(edge_count=graph.edges.nnz, labels=graph.labels, splits=graph.splits)

    @property
    def order(self) -> IntArray:
        """The graph's vertex of each rank."""
        return rank_order(self._graph)

    def numbers(self, state: TrainingState) -> list[TensorNumbers]:
        """``TensorNumbers`` of the step from a state on, of a training on the whole graph."""
        oracle = FixedGnn(self.initial)
        oracle.load_state(state)
        adjacency, features, *_ = training_data(self._graph, self.recipe)
        return step_numbers(oracle, adjacency, features)

    def warn_of_saturation(self, state: Callable[[], TrainingState]) -> None:
        """Warn if evaluating a state saturates, of a training on the whole graph.

        With samples, exponents are chosen from the evaluation itself, and no state is read.
        """
        if self.samples is None:
            oracle = FixedGnn(self.initial)
            oracle.load_state(state())
            adjacency, features, *_ = training_data(self._graph, self.recipe)
            warn_of_saturation(oracle, adjacency, features)

    def open(self, *, group: Group | None, waves: Waves | None, transport: Transport | None,
             progress: Callable[[str], None]) -> TrainingDevice:
        """The device, in the initial state; others are parameters of ``open_device``.

        ``group`` are the processes that train together, as many as boards.
        """
        if group:
            share = self._join(group)
            return self._open_samples(share, self.samples) if self.samples else \
                share.lead_graph(self.shares())
        if self._stale:
            smoothing = self._stale.kept_smoothing
            assert smoothing is not None
            return ReferenceDevice(in_stale_parts(self.initial, self._stale.parts, smoothing))
        if self._assignment.chunks:
            return ReferenceDevice(in_chunks(self.initial, self._assignment.chunks))
        device: TrainingDevice
        name, config = self._device.name, self._device.config
        on_chip = transport is not None or name != "reference"
        edges = self.edges if on_chip else None
        older = OlderWeightsGnn(self.initial, self._older) if self._older else None
        if self.samples and self.recipe.micro_batches > 1:
            part = ReferenceDevice(self.initial, older) if older else open_part(
                self.initial, config, self.samples.capacity, edges, progress=progress,
                transport=(lambda: transport or open_transport(
                    name, config, waves=waves, progress=progress)) if on_chip else None)
            return Worker(part, SamplesInParallel(self.initial, 0, [self.recipe.micro_batches]),
                          LoneGroup(), self._epochs(part.chip, progress))
        device = ReferenceDevice(self.initial, older) if older else open_device(
            name, self.initial, config, edges=edges, waves=waves, transport=transport,
            capacity=self.samples.capacity() if self.samples else None,
            ahead=self.samples is not None and len(self.samples) >= AHEAD_STEPS, progress=progress)
        check = Check(ReferenceDevice(self.initial), config.lanes) \
            if self._check and not older else None
        epochs = self._epochs(device.chip, progress) if self.samples else None
        return SingleDevice(device, epochs, check) if epochs or check else device

    def _epochs(self, chip: Chip | None, progress: Callable[[str], None]) -> Epochs:
        assert self.samples
        judge = partial(self._judge_on, chip, progress) \
            if chip and self._device.evaluate_on == ON_DEVICE else self._judge
        return Epochs(self.samples, judge, self.recipe.micro_batches)

    def follow(self, group: Group) -> None:
        """On all ranks of the group but the leader's: train until the leader's device is closed."""
        share = self._join(group)
        if self.samples:
            self._open_samples(share, self.samples).follow()
        else:
            share.follow_graph()

    def _join(self, group: Group) -> Share:
        self._share = Share(group, self._assignment, self._cluster,
                            BoardDevices(self._device, self._progress))
        return self._share

    def _open_samples(self, share: Share, samples: SampleSource) -> Worker:
        return share.open_samples(self.initial, self.identity, samples, self._judge)

    def _judge(self) -> Judge:
        """The judge of parameters that are trained on samples, on the host."""
        return Judge(self.network, self.recipe, self._whole_graph())

    def _judge_on(self, chip: Chip, progress: Callable[[str], None]) -> Judge:
        """The judge of parameters on the chip that trains them, or on the host if they do not fit.
        """
        whole = self._whole_graph()
        progress("compiling the evaluation of the whole graph")
        try:
            return ChipJudge(chip, self.initial.with_sample(whole))
        except CapacityError as error:
            progress(f"the host evaluates, as a layer of the whole graph does not fit the device: "
                     f"{error}")
            return Judge(self.network, self.recipe, whole)

    def _whole_graph(self) -> Sample:
        return Sample.of(self.network, self.recipe, *training_data(self._graph, self.recipe))
