# SPDX-License-Identifier: BSD-2-Clause
"""Prepares a graph for the chip, and opens devices."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from hypercast.host.compiler.compiled_edges import CompiledEdges
from hypercast.host.compiler.compiler import compile_job, compile_sampled
from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.compiler.sample_capacity import Capacity
from hypercast.host.cycle_model.orders import choose_orders
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.graphs.graph import Graph, GraphError
from hypercast.host.graphs.rank_order import rank_order
from hypercast.host.runtime.alone_chip import AloneChip
from hypercast.host.runtime.chip_transport import open_transport
from hypercast.host.runtime.epochs import AHEAD_STEPS
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.host.schemes.sample_source import SampleSource
from hypercast.host.transport.transport import Transport
from hypercast.reference.array_types import (
    BoolArray,
    FloatArray,
    FloatMatrix,
    IntArray,
    SparseArray,
)
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.network import Network
from hypercast.reference.rate_schedule import schedule_in_steps
from hypercast.reference.recipe import BINARY_CROSS_ENTROPY, CROSS_ENTROPY, Recipe
from hypercast.reference.tensor import Tensor
from hypercast.rtl.config import Config
from hypercast.sim.waves import Waves

__all__ = [
    "Prepared", "loss_of", "open_device", "prepare", "prepare_for", "prepare_sampled",
    "training_data",
]


TrainingData: TypeAlias = tuple[
    SparseArray, FloatMatrix, IntArray | BoolArray, IntArray, FloatArray | None]


class Prepared(NamedTuple):
    """A model in its initial state, with the orders of a configuration.

    Attributes
    ----------
    model : InitialModel
        Ready for ``ReferenceDevice``, ``open_device`` or ``compile_job``.
    edges : CompiledEdges or None
        Edges of the model's graph, if they were compiled to choose the orders. ``compile_job``
        takes them.
    """

    model: InitialModel
    edges: CompiledEdges | None = None


#: Work of the host other than compiling, as ``progress`` says it.
_TRYING = "rounding edge weights and features, and trying the first step"


def _counting_steps(recipe: Recipe, steps: int = 1) -> Recipe:
    """The recipe with a schedule that counts steps, as devices do; an epoch has several."""
    return replace(recipe, schedule=schedule_in_steps(recipe.schedule, recipe.epochs, steps))


def _ordering(graph: Graph) -> str:
    return f"ordering and normalising {graph.edges.nnz:,} edges"


def loss_of(graph: Graph) -> str:
    """The loss (of ``reference.recipe.LOSSES``) that takes a graph's labels."""
    return BINARY_CROSS_ENTROPY if graph.multi_label else CROSS_ENTROPY


def prepare(graph: Graph, network: Network, recipe: Recipe, config: Config | None = None,
            parameters: Mapping[Tensor, npt.ArrayLike] | None = None, *,
            loss_weights: npt.ArrayLike | None = None,
            progress: Callable[[str], None] = lambda text: None) -> InitialModel:
    """The model of a graph in its initial state: vertices in rank order, everything normalised.

    Parameters
    ----------
    graph : Graph
        What to train on.
    network : Network
        What to train.
    recipe : Recipe
        How to train.
    config : Config, optional
        Configuration for which the order of every layer's products is chosen, whatever it is in
        ``network``: the order of the fewest predicted cycles, or, if the network does not fit the
        configuration, features times weights first. The bits follow from the orders.
    parameters : dict, optional
        Initial weights and biases by name, instead of values by the recipe's seed.
    loss_weights : (V,) array of float, optional
        Factor of each vertex's loss, in the graph's order of vertices; see ``Sample``.
    progress : callable
        Called with a line of text before each part.

    Returns
    -------
    InitialModel
        Ready for ``ReferenceDevice`` or ``compile_job``.

    Raises
    ------
    InputError
        If the recipe's loss does not take the graph's labels, or something else does not fit.
    """
    if config is not None:
        return prepare_for(config, graph, network, recipe, parameters,
                           loss_weights=loss_weights, progress=progress).model
    progress(_ordering(graph))
    data = training_data(graph, recipe, loss_weights)
    progress(_TRYING)
    return InitialModel.of(network, _counting_steps(recipe), *data, parameters=parameters)


def prepare_for(config: Config, graph: Graph, network: Network, recipe: Recipe,
                parameters: Mapping[Tensor, npt.ArrayLike] | None = None, *,
                loss_weights: npt.ArrayLike | None = None,
                progress: Callable[[str], None] = lambda text: None) -> Prepared:
    """The result of ``prepare`` for a configuration, and the edges that were compiled for it."""
    combining = network.with_orders(layer.orders[0] for layer in network.layers)
    recipe = _counting_steps(recipe)
    progress(_ordering(graph))
    data = training_data(graph, recipe, loss_weights)
    progress(_TRYING)
    model = InitialModel.of(combining, recipe, *data, parameters=parameters)
    edges = CompiledEdges.of_any_order(
        combining, model.sample.edges, model.sample.root_weight, config, progress=progress)
    try:
        chosen = choose_orders(Workload.of_model(model, config, edges)).network
    except CapacityError:
        chosen = combining
    if chosen != combining:
        progress(_TRYING)
        model = InitialModel.of(chosen, recipe, model.sample, parameters=parameters)
    return Prepared(model, edges)


def prepare_sampled(source: SampleSource, network: Network, recipe: Recipe,
                    config: Config | None = None,
                    parameters: Mapping[Tensor, npt.ArrayLike] | None = None, *,
                    progress: Callable[[str], None] = lambda text: None) -> Prepared:
    """The model of a graph's samples in its initial state; the first one chooses the orders.

    Steps are predicted as they will run: with features that stay in memory, and ahead of the next
    sample where there are enough of them.

    Parameters
    ----------
    source : SampleSource
        The samples.
    network, recipe, config, parameters
        As of ``prepare``; the recipe's schedule counts epochs here, and steps in the model's
        recipe.
    progress : callable
        As of ``prepare``.
    """
    recipe = _counting_steps(recipe, -(-len(source) // recipe.micro_batches))
    edges = None
    if config is not None:
        edges = CompiledEdges.of_any_order(
            network, source.first.edges, 1, config, progress=progress)
        try:
            network = choose_orders(Workload(
                config=config, network=network, aggregations=edges, sampled=True,
                resident=source.first.origin is not None,
                pipelined=recipe.micro_batches == 1 and len(source) >= AHEAD_STEPS)).network
        except CapacityError:
            network = network.with_orders(layer.orders[0] for layer in network.layers)
    progress(_TRYING)
    return Prepared(InitialModel.of(network, recipe, source.first, parameters=parameters), edges)


def training_data(graph: Graph, recipe: Recipe,
                  loss_weights: npt.ArrayLike | None = None) -> TrainingData:
    """Edge weights, features, labels, splits and loss weights: normalised, in rank order."""
    order = rank_order(graph)
    ranked = None if loss_weights is None else np.asarray(loss_weights, dtype=np.float64)[order]
    if recipe.normalise_features:
        graph = graph.with_normalised_features()
    given, graph = graph, graph.permute(order)
    try:
        edges = graph.normalise(recipe.normalisation, recipe.gin_epsilon)
    except GraphError:
        given.normalise(recipe.normalisation, recipe.gin_epsilon)  # whose error has its numbers
        raise
    return edges, graph.features, graph.labels, graph.splits, ranked


def open_device(name: str, model: InitialModel, config: Config, *,
                capacity: Capacity | None = None,
                edges: CompiledEdges | None = None, ahead: bool = False,
                waves: Waves | None = None, transport: Transport | None = None,
                progress: Callable[[str], None] = lambda text: None) -> TrainingDevice:
    """A device that trains ``model``.

    Parameters
    ----------
    name : str
        ``reference``, or the name of a chip, see ``open_transport``.
    model : InitialModel
        The model that is trained.
    config : Config
        Configuration of the chip.
    capacity : Capacity, optional
        For samples, if it is to train on others, too.
    edges : CompiledEdges, optional
        The model's, if they have been compiled.
    ahead : bool
        Whether steps on samples are to work ahead where they can.
    transport : Transport, optional
        To a chip, whatever the name is.
    waves : Waves, optional
        Waveforms to be written; of ``rtl`` only.
    progress : callable
        Called with a line of text before each slow step.

    Raises
    ------
    CapacityError
        If the job does not fit the configuration.
    TransportError
        If there is no such board.
    """
    if transport is None and name == "reference":
        return ReferenceDevice(model)
    job = compile_sampled(model, config, capacity, edges, ahead=ahead) \
        if capacity else compile_job(model, config, edges=edges)
    if transport is None:
        transport = open_transport(name, config, waves=waves, progress=progress)
    return AloneChip(transport, job, model, progress=progress)
