# SPDX-License-Identifier: BSD-2-Clause
"""The planner's problem: a network, the samples that it is trained on, and the boards."""

import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, Self

from hypercast.errors import InputError
from hypercast.host.cluster.board import Board
from hypercast.host.cluster.description import Cluster
from hypercast.host.compiler.layer_entries import layer_entries
from hypercast.host.planner.layer_costs import (
    Room,
    border,
    layer_cost,
    list_footprint,
    result_footprint,
    root_footprint,
)
from hypercast.host.planner.operators import Footprint, Operator, OperatorGraph
from hypercast.host.planner.statistics import Statistics
from hypercast.reference.network import LINEAR, ROOT_WEIGHTS, Network
from hypercast.reference.step_graph import step_graph
from hypercast.reference.tensor import Kind, Tensor

__all__ = ["NetworkLayer", "Problem"]


class NetworkLayer(NamedTuple):
    """A layer of a network, or of one branch of a network with several.

    Attributes
    ----------
    name : str
        Name of the problem.
    network : Network
        The network, or the branch.
    number : int
        The layer there, from 1.
    """

    name: str
    network: Network
    number: int

    @property
    def columns(self) -> int:
        """Columns of its result."""
        return self.network.layers[self.number - 1].features_out


def _slices(layer: NetworkLayer, count: int) -> list[NetworkLayer]:
    """Slices of a layer, of about as many columns each."""
    found, network, number = [], layer.network, layer.number
    for begin, end in itertools.pairwise(layer.columns * cut // count
                                         for cut in range(count + 1)):
        mine = replace(network.layers[number - 1], features_out=end - begin)
        after = replace(network.layers[number], features_in=end - begin)
        found.append(NetworkLayer(
            f"{layer.name} (columns {begin + 1} to {end})",
            replace(network, layers=(*network.layers[:number - 1], mine, after,
                                     *network.layers[number + 1:])), number))
    return found


def _edges(network: Network) -> tuple[tuple[int, int], ...]:
    """Numbers (from 0) of each layer of a network, and of each that reads it."""
    return tuple(sorted(
        {(weight.source - 1, number - 1) for number, _ in enumerate(network.layers, 1)
         for weight in network.weights(number) if weight.source}))


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """A training, and boards for it.

    Parameters
    ----------
    cluster : Cluster
        The boards.
    layers : tuple of NetworkLayer
        The network's layers, each after the layers that it reads.
    edges : tuple of (int, int)
        Numbers (from 0) of a layer and of a reader of it.
    statistics : Statistics
        What a micro-batch works on.
    micro_batches : int
        Micro-batches of a step: samples whose gradients are added up. 1 for a whole graph.
    adam : bool
        Whether the optimiser is Adam.
    sigmoid : bool
        Whether vertices have several labels.
    samples : int
        Samples of an epoch; 0 if that is not known.

    Raises
    ------
    InputError
        If boards have elements of different widths, or a whole graph several micro-batches.
    """

    cluster: Cluster
    layers: tuple[NetworkLayer, ...]
    edges: tuple[tuple[int, int], ...]
    statistics: Statistics
    micro_batches: int = 1
    adam: bool = False
    sigmoid: bool = False
    samples: int = 0
    _graphs: dict[Statistics, OperatorGraph] = field(default_factory=dict, init=False)
    _borders: dict[tuple[int, float], list[dict[tuple[int, Tensor], Room]]] = field(
        default_factory=dict, init=False)

    def __post_init__(self) -> None:
        widths = {board.config.element_width: board.name for board in self.cluster.boards}
        if len(widths) > 1:
            said = ", ".join(f"{name} has {width}" for width, name in widths.items())
            raise InputError(f"boards of one training need elements of the same width, but {said} "
                             f"bits; set element_width in the cluster's file")
        if self.micro_batches > 1 and not self.statistics.sampled:
            raise InputError(f"a step on the whole graph has one micro-batch, not "
                             f"{self.micro_batches}; train on samples (--sampler), or leave "
                             f"micro_batches out")

    @classmethod
    def of_network(cls, cluster: Cluster, network: Network, statistics: Statistics, *,
                   micro_batches: int = 1, adam: bool = False, sigmoid: bool = False,
                   samples: int = 0) -> Self:
        """The problem of a network, with its orders of products."""
        return cls(cluster=cluster, statistics=statistics, micro_batches=micro_batches, adam=adam,
                   sigmoid=sigmoid, samples=samples, edges=_edges(network),
                   layers=tuple(NetworkLayer(f"layer {number}", network, number)
                                for number in range(1, len(network.layers) + 1)))

    @property
    def adds_gradients(self) -> bool:
        """Whether a board may keep sums of gradients, to add others' or other samples'."""
        return len(self.boards) > 1 or self.micro_batches > 1

    @property
    def steps(self) -> tuple[tuple[int, int], ...]:
        """Micro-batches of the steps of an epoch, each with the number of steps that have so many.

        The last step may have fewer than others.
        """
        full, rest = divmod(self.samples or self.micro_batches, self.micro_batches)
        return tuple((size, count) for size, count in ((self.micro_batches, full), (rest, 1))
                     if size and count)

    def mean_step(self, seconds: Callable[[int], float]) -> float:
        """The mean over an epoch's steps of their seconds, by their numbers of micro-batches."""
        return sum(count * seconds(size) for size, count in self.steps) / sum(
            count for _, count in self.steps)

    @property
    def more_micro_batches(self) -> str:
        """The remedy that gives a step more micro-batches, as text."""
        if self.samples and self.samples <= self.micro_batches:
            return f"an epoch has no more samples than {self.samples}; make them smaller or more"
        return "raise --micro-batches"

    @property
    def is_one_network(self) -> bool:
        """Whether the layers are all layers of one network, and no branches or slices of them."""
        network = self.layers[0].network
        return self.edges == _edges(network) and [layer[1:] for layer in self.layers] == [
            (network, number) for number in range(1, len(network.layers) + 1)]

    @property
    def splittable(self) -> tuple[int, ...]:
        """Into how many slices each layer can be split by columns, at most; 1 if it cannot.

        Columns of features times weights depend on no others. The last layer's cannot be split, as
        its loss takes all; nor can layers at an end of a residual connection, or of a network with
        branches.
        """
        chain = all(layer.network is self.layers[0].network for layer in self.layers)
        lanes = max(board.config.lanes for board in self.boards)

        def alone(layer: NetworkLayer) -> bool:
            """Whether each column of its result is one of several layers' inputs."""
            own, *after = layer.network.layers[layer.number - 1:layer.number + 1]
            return not own.root and all(one.root in (None, ROOT_WEIGHTS) for one in after)

        return tuple(
            max(1, layer.columns // lanes) if chain and not layer.network.shares_exponents
            and alone(layer) and number < len(self.layers) else 1
            for number, layer in enumerate(self.layers, 1))

    def split(self, slices: Sequence[int]) -> Self:
        """This problem with layers split by columns.

        Parameters
        ----------
        slices : sequence of int
            How many slices of each layer.

        Raises
        ------
        InputError
            If a layer cannot be split into so many.
        """
        if len(slices) != len(self.layers):
            raise InputError(f"the network has {len(self.layers)} layers, but slices of "
                             f"{len(slices)} are given; give one number for each layer")
        for number, (count, most) in enumerate(zip(slices, self.splittable, strict=True), 1):
            if not 1 <= count <= most:
                raise InputError(f"layer {number} can be split into 1 to {most} slices by its "
                                 f"columns, not into {count}")
        layers: list[NetworkLayer] = []
        parts: list[range] = []
        for layer, count in zip(self.layers, slices, strict=True):
            parts.append(range(len(layers), len(layers) + count))
            layers += _slices(layer, count) if count > 1 else [layer]
        return replace(self, layers=tuple(layers), edges=tuple(sorted(
            (one, other) for source, target in self.edges
            for one in parts[source] for other in parts[target])))

    @property
    def boards(self) -> tuple[Board, ...]:
        """The boards."""
        return self.cluster.boards

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of all layers, from 1."""
        return tuple(range(1, len(self.layers) + 1))

    @cached_property
    def fastest(self) -> tuple[Board, ...]:
        """The boards, in order of the time that a micro-batch takes on them, least first."""
        layers = range(len(self.layers))
        return tuple(sorted(self.boards, key=lambda board: self.graph.seconds(layers, board)))

    @property
    def graph(self) -> OperatorGraph:
        """The operators of a micro-batch."""
        return self.operators(self.statistics)

    def operators(self, statistics: Statistics) -> OperatorGraph:
        """The operators of what works on other vertices and edges."""
        if statistics not in self._graphs:
            kinds = {board.speed: board for board in self.boards}
            network = self.layers[0].network
            # A sum passes from one reader to the reader before; to layer 2 at last.
            skips = [(number - 1, after - 1, reader - 1)
                     for number, _ in enumerate(network.layers, 1)
                     for reader, after in itertools.pairwise(network.readers(number))]
            skips += [(0, number - 1, before - 1)
                      for before, number in itertools.pairwise((2, *network.initial))]
            self._graphs[statistics] = OperatorGraph(tuple(
                self._operator(layer, statistics, list(kinds.values())) for layer in self.layers),
                self.edges, tuple(skips) if self.is_one_network else ())
        return self._graphs[statistics]

    def _operator(self, layer: NetworkLayer, statistics: Statistics,
                  boards: Sequence[Board]) -> Operator:
        rows = statistics.vertices[min(layer.number, len(statistics.vertices) - 1)]
        return Operator(
            name=layer.name,
            costs={board.speed: layer_cost(layer.network, layer.number, statistics, board,
                                           self.adam, sums=self.adds_gradients,
                                           sigmoid=self.sigmoid)
                   for board in boards},
            output=rows * layer.columns * boards[0].config.element_width // 8,
            mask=-(-rows * layer.columns // 8),
            weights=sum(weight.shape[0] * weight.shape[1]
                        for weight in layer.network.weights(layer.number)) + layer.columns)

    def border(self, number: int, board: Board) -> dict[tuple[int, Tensor], Room]:
        """Room for tensors of others that a layer (from 0) reads or stores, by owner and name."""
        if board.speed not in self._borders:
            self._borders[board.speed] = [self._border(one, board)
                                          for one in range(len(self.layers))]
        return self._borders[board.speed][number]

    def _border(self, number: int, board: Board) -> dict[tuple[int, Tensor], Room]:
        """As ``border``, computed anew."""
        if self.is_one_network:
            found = border(self.layers[0].network, number + 1, self.statistics, board.config)
            return {(layer - 1, tensor): room for (layer, tensor), room in found.items()}
        # Of branches and slices, their results alone.
        return {(source, Tensor(Kind.HIDDEN, other.number)): Room(result_footprint(
            other.columns, self.statistics.vertices[other.number], board.config), True)
            for source in self.graph.sources[number] for other in [self.layers[source]]}

    def border_of(self, numbers: Sequence[int], board: Board) -> tuple[Footprint, Footprint]:
        """Room for tensors of others that some layers read or store: what is kept, and the rest."""
        found = {key: room for number in numbers
                 for key, room in self.border(number, board).items() if key[0] not in numbers}
        kept, working = (sum((room.need for room in found.values() if room.kept == which),
                             Footprint()) for which in (True, False))
        return kept, working

    def lists(self, numbers: Sequence[int], board: Board, statistics: Statistics | None = None,
              halo: int = 0) -> Footprint:
        """Room for the edges of some layers (from 0) on a board, of a micro-batch.

        A whole graph's are the same for all layers, and for both ways if its matrix is its own
        transpose. A part of a graph has edges from its ``halo``, vertices of others, and to them.
        """
        statistics = statistics or self.statistics
        twice = bool(halo) or not statistics.symmetric
        found = dict[tuple[int, bool], Footprint]()
        for layer in (self.layers[number] for number in numbers):
            if layer.network.layers[layer.number - 1].order == LINEAR:
                continue
            sources, targets = statistics.vertices[layer.number - 1:layer.number + 1]
            edges = statistics.edges[layer.number - 1]
            for backward in (False, True):
                one, other = (sources, targets) if backward else (targets, sources)
                if statistics.square:
                    key = 0, backward and twice
                elif backward and layer.network.aggregates_features(layer.number):
                    continue  # nobody asks for the gradients of features
                else:
                    key = layer.number, backward
                found[key] = list_footprint(one, other + halo, edges, statistics.law, board.config)
        return sum(found.values(), self.root_lists(numbers, board, statistics))

    def root_lists(self, numbers: Sequence[int], board: Board,
                   statistics: Statistics | None = None) -> Footprint:
        """Room for the lists of rows that are added to sums over neighbours, as of ``lists``."""
        statistics = statistics or self.statistics
        total = Footprint()
        for layer in (self.layers[number] for number in numbers):
            if step_graph(layer.network).adds_rows:
                sources, targets = statistics.vertices[layer.number - 1:layer.number + 1]
                total += root_footprint(targets, sources, board.config)
                if statistics.square:
                    return total  # the same for all layers, and for both ways
                total += root_footprint(sources, targets, board.config)
        return total

    @property
    def exchanges(self) -> list[int]:
        """Columns of the rows of others that parts of the vertices read, in each exchange."""
        found = []
        for _, network, number in self.layers:
            forward, backward = step_graph(network).aggregated_columns(number)
            # Input features never change: they are brought once.
            found += [*([] if network.aggregates_features(number) else forward), *backward]
        return found

    @property
    def sent_columns(self) -> list[int]:
        """Columns of the rows of others that cores of a part send, each time they do."""
        return [columns for _, network, number in self.layers
                for way in step_graph(network).aggregated_columns(number) for columns in way]

    @cached_property
    def layer_entries(self) -> tuple[frozenset[Hashable], ...]:
        """Entries of the exponent file that each layer needs; some need the same.

        What reads a layer of another network, or a slice of a layer, needs the entries of that.
        """
        if self.is_one_network:
            return tuple(layer_entries(network, [number]) for _, network, number in self.layers)
        found = []
        for place, (_, network, number) in enumerate(self.layers):
            entries = set[Hashable]()
            for name in layer_entries(network, [number]):
                makers = self.graph.sources[place] if name.layer == number - 1 else (place,)
                entries |= {(maker, name.kind, name.during) for maker in makers} if name.layer \
                    else {name}
            found.append(frozenset(entries))
        return tuple(found)

    @property
    def entries(self) -> int:
        """Entries of the exponent file, in training and evaluation."""
        return len(frozenset().union(*self.layer_entries))

    @property
    def weights(self) -> int:
        """Elements of all weights."""
        return sum(operator.weights for operator in self.graph.operators)
