# SPDX-License-Identifier: BSD-2-Clause
"""Workloads of the cycle model: a network on a graph, or on a graph's statistics."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

from hypercast.host.compiler.compiled_edges import CompiledEdges
from hypercast.host.compiler.features import Features
from hypercast.host.compiler.load import Load
from hypercast.host.compiler.reduction import GradientDigits
from hypercast.host.compiler.vertices import strips_of
from hypercast.host.cycle_model.aggregations import Expected, Thinned
from hypercast.reference.array_types import IntArray, SparseArray
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.network import AGGREGATE_FIRST, Network
from hypercast.reference.tensor import Tensor
from hypercast.rtl.config import Config

__all__ = ["Aggregations", "Workload"]


#: Strips of a graph that are predicted one by one: the time for it grows with their square.
_STRIPS = 96


class Aggregations(Protocol):
    """The aggregations of a step, see ``CompiledEdges`` and ``Expected``."""

    @property
    def vertices(self) -> tuple[int, ...]: ...

    def loads(self, layer: int, backward: bool) -> list[Load]: ...

    def root_loads(self, layer: int, backward: bool) -> list[Load]: ...


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A training step.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    network : Network
        The network that is trained.
    aggregations : Aggregations
        Vertices of the input and of every layer's output, and what aggregations load in any order.
    sampled : bool
        Whether each step has a batch of its own, whose input features have to be read from memory.
    pipelined : bool
        Whether a step of sampled batches aggregates the next batch's input features, if the first
        layer aggregates first: that depends on nothing that the step computes.
    resident : bool
        Whether the whole graph's features stay in memory, if the first layer aggregates first: the
        send lists of sampled batches name rows of them.
    words : (cores, blocks, panels) array of int, optional
        Words of the input features, if they are word-sparse where the first layer combines first.
    digits : callable
        Gives the digits that gradients are sent in: a dictionary by parameter, from a network; as
        many as an accumulator has where it says nothing.
    """

    config: Config
    network: Network
    aggregations: Aggregations
    sampled: bool = False
    pipelined: bool = False
    resident: bool = False
    words: IntArray | None = None
    digits: Callable[[Network], Mapping[Tensor, int]] = lambda network: {}

    @classmethod
    def of_graph(cls, adjacency: SparseArray, network: Network, config: Config,
                 root_weight: int = 1, **known: Any) -> Self:
        """A full-batch step on a graph.

        Parameters
        ----------
        adjacency : scipy.sparse array
            (V, V) mantissas of the aggregated edges, loops included, in rank order.
        root_weight : int
            ``Sample.root_weight`` of rows that are added; the larger, the more edges.
        **known
            ``words`` and ``digits``.
        """
        return cls(config=config, network=network, aggregations=CompiledEdges.of_any_order(
            network, [adjacency] * len(network.layers), root_weight, config), **known)

    @classmethod
    def of_batch(cls, matrices: Sequence[SparseArray], network: Network, config: Config,
                 root_weight: int = 1, **known: Any) -> Self:
        """A step on a sampled batch: like ``of_graph``, with a matrix (targets, sources) a layer;
        ``known`` also ``pipelined`` and ``resident``.
        """
        return cls(config=config, network=network, aggregations=CompiledEdges.of_any_order(
            network, matrices, root_weight, config), sampled=True, **known)

    @classmethod
    def of_model(cls, model: InitialModel, config: Config,
                 edges: CompiledEdges | None = None) -> Self:
        """The full-batch step that ``compile_job`` makes of a ``InitialModel``.

        Its ``edges`` may have been compiled, of any orders.
        """
        rows, sample = -(-len(model.sample.labels) // config.cores), model.sample
        return cls(config=config, network=model.network,
                   aggregations=edges or CompiledEdges.of_any_order(
                       model.network, sample.edges, sample.root_weight, config),
                   words=Features(model, rows, config).words,
                   digits=GradientDigits(model, config))

    @classmethod
    def of_statistics(cls, vertices: Sequence[int], edges: Sequence[int], network: Network,
                      config: Config, *, law: str = "power", **known: Any) -> Self:
        """A step on random graphs, by expected values.

        Parameters
        ----------
        vertices : sequence of int
            Vertices of the input, and of every layer's output.
        edges : sequence of int
            Entries of every layer's adjacency matrix: edges in both directions, and loops.
        law : str
            One of ``DEGREE_LAWS``: how edges are distributed over the vertices they come from.
        **known
            ``words``, ``digits``, ``sampled``, ``pipelined`` and ``resident``.
        """
        return cls(config=config, network=network,
                   aggregations=Expected(vertices, edges, config, law), **known)

    @classmethod
    def of_whole_graph(cls, vertices: int, edges: int, network: Network, config: Config, *,
                       law: str = "power") -> Self:
        """A full-batch step on a random graph, by expected values.

        Where it has very many strips of rows on the chip, some stand for all.

        Parameters
        ----------
        vertices, edges : int
            Vertices, and entries of the adjacency matrix: edges in both directions, and loops.
        law : str
            As of ``of_statistics``.
        """
        strips = len(strips_of(vertices, config))
        return cls(config=config, network=network, aggregations=Thinned(
            vertices, edges, len(network.layers), config, law=law,
            strips=strips / -(-strips // _STRIPS)))

    @property
    def factor(self) -> float:
        """How many strips of rows each strip stands for."""
        return self.aggregations.factor if isinstance(self.aggregations, Thinned) else 1.0

    @property
    def whole(self) -> tuple[int, ...]:
        """Vertices, also of strips that others stand for."""
        return self.aggregations.whole if isinstance(self.aggregations, Thinned) else self.vertices

    def with_orders(self, orders: Iterable[str]) -> Self:
        """This workload with other orders of the layers."""
        return replace(self, network=self.network.with_orders(orders))

    @property
    def vertices(self) -> tuple[int, ...]:
        """Rows of the input, and of every layer's output."""
        return self.aggregations.vertices

    def loads(self, layer: int, backward: bool) -> list[Load]:
        """The ``Load`` of every strip of rows that are aggregated in a layer."""
        return self.aggregations.loads(layer, backward)

    def root_loads(self, layer: int, backward: bool) -> list[Load]:
        """Loads of the rows that are added to sums over neighbours: each stays in its core."""
        return self.aggregations.root_loads(layer, backward)

    @property
    def orders(self) -> tuple[str, ...]:
        """Order of every layer."""
        return tuple(layer.order for layer in self.network.layers)

    @property
    def combines_first(self) -> bool:
        """Whether whatever reads the input features does, or sums nothing over neighbours."""
        return AGGREGATE_FIRST not in self.network.feature_orders

    @property
    def ahead(self) -> bool:
        """Whether a step aggregates the next batch's input features."""
        return self.sampled and self.pipelined and self.network.only_aggregates_features

    @property
    def indexed(self) -> bool:
        """Whether send lists name the rows of input features that are sent."""
        return self.sampled and self.resident and self.network.only_aggregates_features
