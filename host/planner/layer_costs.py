# SPDX-License-Identifier: BSD-2-Clause
"""Costs of a layer on a board: cycles by the cycle model, memory by the compiler's layout."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from hypercast.host.cluster.board import Board
from hypercast.host.compiler.edge_sets import edge_set_words
from hypercast.host.compiler.label_list import LabelFormat
from hypercast.host.compiler.layout import place_tensors
from hypercast.host.compiler.load import Load
from hypercast.host.compiler.memory_map import MemoryMap
from hypercast.host.compiler.vertices import strips_of
from hypercast.host.cycle_model.aggregations import Expected, Thinned
from hypercast.host.cycle_model.prediction import predict_layer
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.planner.operators import Cost, Footprint
from hypercast.host.planner.statistics import Statistics
from hypercast.reference.network import ROOT_INITIAL, ROOT_WEIGHTS, Layer, Network
from hypercast.reference.step_graph import step_graph
from hypercast.reference.tensor import FEATURES, Tensor
from hypercast.rtl.config import Config
from hypercast.rtl.isa import BASE_WIDTH, TENSOR_WIDTH

__all__ = ["Room", "border", "layer_cost", "list_footprint", "result_footprint", "root_footprint"]


class Room(NamedTuple):
    """Room for a tensor.

    Attributes
    ----------
    need : Footprint
        The room.
    kept : bool
        Whether it is kept for the way back: each micro-batch in flight has its own.
    """

    need: Footprint
    kept: bool


def layer_cost(network: Network, number: int, statistics: Statistics, board: Board,
               adam: bool, *, sums: bool = False, sigmoid: bool = False) -> Cost:
    """The cost of a layer (from 1) on a board, for a micro-batch of some ``Statistics``.

    With ``sums``, gradients are kept until other boards' or samples' have been added; with
    ``sigmoid``, vertices have several labels.
    """
    config = board.config
    forward, backward = _cycles(network, number, statistics, config)
    rooms = [room for tensor, room in _rooms(network, statistics.vertices, config).items()
             if _owner(tensor) == number]
    kept, working = (sum((room.need for room in rooms if room.kept == which), Footprint())
                     for which in (True, False))
    if number == len(network.layers):
        kept += _labels(network, statistics, config, sigmoid)
    return Cost(forward=forward / board.clock, backward=backward / board.clock, kept=kept,
                working=working, resident=_weights(network, number, config, adam, sums))


def border(network: Network, number: int, statistics: Statistics,
           config: Config) -> dict[tuple[int, Tensor], Room]:
    """Room for tensors of other layers that a layer (from 1) reads or stores, by layer and name.

    These are the results that it reads, the gradients that go back to those who made them, with
    their masks, and the input features if a layer after the first reads them.
    """
    graph, rooms = step_graph(network), _rooms(network, statistics.vertices, config)
    names = graph.tensors_of([number])
    if network.reads_features(range(number, number + 1)):
        names |= {FEATURES}
    return {(_owner(tensor), tensor): room for tensor, room in rooms.items()
            if tensor in names and _owner(tensor) != number}


def _owner(tensor: Tensor) -> int:
    """The layer that a tensor counts for; the input features for the first one."""
    return max(tensor.layer, 1)


def result_footprint(columns: int, vertices: int, config: Config) -> Footprint:
    """Room for a matrix with a row for each vertex."""
    return Footprint(features=-(-columns // config.lanes) * _rows(vertices, config))


@lru_cache(maxsize=64)
def list_footprint(targets: int, sources: int, edges: int, law: str, config: Config) -> Footprint:
    """Room for a matrix of edges, and for the lists of rows that are sent for it."""
    loads = Expected([sources, targets], [edges], config, law).loads(1, False)
    return _lists(loads, sources, config)


@lru_cache(maxsize=64)
def root_footprint(targets: int, sources: int, config: Config) -> Footprint:
    """Room for the lists of rows that are added to sums over neighbours, each in its own core."""
    loads = []
    for strip in strips_of(targets, config):
        rows = strip.rows * config.cores
        loads += Expected([rows, rows], [rows], config).root_loads(1, False)
    return _lists(loads, sources, config)


def _lists(loads: Sequence[Load], sources: int, config: Config) -> Footprint:
    """Room for an edge set and a send list for each strip."""
    records = -(-_rows(sources, config) * config.send_record_width // config.word_width)
    return Footprint(gradients=sum(edge_set_words(load.words, config) + records for load in loads))


def _rows(vertices: int, config: Config) -> int:
    return -(-vertices // config.cores)


def _window(network: Network, number: int) -> tuple[tuple[Layer, ...], int, Sequence[int]]:
    """A layer between its neighbours, its number there, and the numbers of the levels.

    The first level is what the first of them reads; each other one has the number of the layer that
    it is the output of. The neighbours combine first, whatever they do in the network.
    """
    last = len(network.layers)
    if network.jumping and number == last and last > 1:
        layer = network.layers[-1]
        before = replace(network.layers[-2], features_out=layer.features_in, root=None,
                         source=None)
        return (_combining_layer(before), layer), 2, range(last - 2, last + 1)
    path = network.path(number)
    index = path.index(number)
    begin, end = max(0, index - 1), min(len(path), index + 2)
    layers = [replace(network.layers[one - 1], source=None) for one in path[begin:end]]
    if network.jumping and path[end - 1] == last:  # which takes the outputs of others, too
        layers[-1] = replace(layers[-1], features_in=layers[-2].features_out)
    place, levels = index - begin, [path[begin] - 1, *path[begin:end]]
    layers = [one if index == place else _combining_layer(one) for index, one in enumerate(layers)]
    first = _combining_layer(network.layers[0])
    if number in network.initial and first.features_out == layers[0].features_in and (
            layers[0].dropout == layers[1].dropout):
        # What is added to the gradient of the first layer's outputs goes on to the next one.
        return (first, *layers), place + 2, [levels[0] - 1, *levels]
    layers = [replace(one, root=ROOT_WEIGHTS, alpha=0.0) if one.root == ROOT_INITIAL else one
              for one in layers]
    return tuple(layers), place + 1, levels


def _combining_layer(layer: Layer) -> Layer:
    return replace(layer, order=layer.orders[0])


def _cycles(network: Network, number: int, statistics: Statistics,
            config: Config) -> tuple[float, float]:
    layers, place, levels = _window(network, number)
    vertices = tuple(statistics.vertices[level] for level in levels)
    edges = tuple(statistics.edges[layer - 1] for layer in levels[1:])
    if statistics.square:
        vertices, edges = vertices[:1], edges[:1]
    return _predict(layers, place, vertices, edges, statistics.law, statistics.sampled, config)


@lru_cache(maxsize=1024)
def _predict(layers: tuple[Layer, ...], number: int, vertices: tuple[int, ...],
             edges: tuple[int, ...], law: str, sampled: bool,
             config: Config) -> tuple[float, float]:
    """Cycles of a layer among others, forward and backward."""
    # Whether it fits is not asked here.
    config = config.replace(weight_rows=1 << BASE_WIDTH, tensors=1 << TENSOR_WIDTH)
    aggregations: Expected
    factor = 1.0
    if len(vertices) == 1:
        thinned = Thinned(vertices[0], edges[0], len(layers), config, law=law)
        aggregations, factor = thinned, thinned.factor
    else:
        aggregations = Expected(vertices, edges, config, law)
    workload = Workload(config=config, network=Network(layers=layers), aggregations=aggregations,
                        sampled=sampled)
    forward, backward = predict_layer(workload, number)
    return forward * factor, backward * factor


@lru_cache(maxsize=64)
def _rooms(network: Network, vertices: tuple[int, ...], config: Config) -> dict[Tensor, Room]:
    """Room for all tensors of a network."""
    memory = MemoryMap(config, [_rows(count, config) for count in vertices])
    graph = step_graph(network)
    place_tensors(network, memory, config)
    memory.matrix(FEATURES, 0, network.features)
    return {region.tensor: Room(
        Footprint(gradients=region.words) if region.channel else Footprint(features=region.words),
        region.tensor in graph.kept) for region in memory.regions.values() if region.tensor}


def _labels(network: Network, statistics: Statistics, config: Config, sigmoid: bool) -> Footprint:
    """Room for the labels of each vertex; of samples, with a loss weight."""
    rows = [_rows(count, config) for count in statistics.vertices]
    records = LabelFormat(sigmoid=sigmoid, weighted=statistics.sampled).records(
        network.classes, config)
    return Footprint(gradients=MemoryMap(config, rows).labels(records).words)


def _weights(network: Network, number: int, config: Config, adam: bool,
             sums: bool) -> Footprint:
    """Room for a layer's weights, and for what the optimiser knows of them."""
    panels = -(-network.layers[number - 1].features_out // config.lanes)
    heights = [1, *(-(-weight.shape[0] // config.lanes) * config.lanes
                    for weight in network.weights(number))]
    values = (3 if adam else 2) + (2 if sums else 0)
    state = sum(-(-panels * height // config.cores) * values * config.state_words
                for height in heights)
    return Footprint(gradients=state, weight_rows=panels * sum(heights))
