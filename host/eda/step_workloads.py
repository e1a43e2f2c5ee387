# SPDX-License-Identifier: BSD-2-Clause
"""The same training step on many configurations, for ``explore``."""

import dataclasses
import warnings
from collections.abc import Sequence

from hypercast.host.compiler.compiled_edges import CompiledEdges
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.memory_map import SlowdownWarning
from hypercast.host.cycle_model.orders import choose_orders
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.graphs.graph import Graph
from hypercast.host.training.prepare import loss_of, prepare
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe
from hypercast.rtl.config import Config

__all__ = ["GraphSteps", "StatisticSteps"]

#: Fields that edges are compiled for.
_EDGE_FIELDS = ("lanes", "dimensions", "planes", "eject", "element_width", "accumulator_rows",
                "aggregation_rows")


class GraphSteps:
    """A step on a whole graph.

    Parameters
    ----------
    graph : Graph
        The graph.
    network : Network
        The network that is trained.
    recipe : Recipe
        How.
    fastest : bool
        Whether each configuration has the orders of the fewest cycles on it, whatever they are in
        the network.
    """

    def __init__(self, graph: Graph, network: Network, recipe: Recipe, *,
                 fastest: bool = False) -> None:
        self._model = prepare(graph, network, dataclasses.replace(recipe, loss=loss_of(graph)))
        self._fastest = fastest
        self._edges: dict[tuple[int, ...], CompiledEdges] = {}
        self._models = {self._model.network: self._model}

    def __call__(self, config: Config) -> Workload:
        """The workload on a configuration."""
        key = tuple(getattr(config, name) for name in _EDGE_FIELDS)
        if key not in self._edges:
            sample = self._model.sample
            self._edges[key] = CompiledEdges.of_any_order(
                self._model.network, sample.edges, sample.root_weight, config)
        edges = dataclasses.replace(self._edges[key], config=config)
        workload = Workload.of_model(self._model, config, edges)
        if self._fastest:
            workload = choose_orders(workload)
        with warnings.catch_warnings():
            # As a prediction says, too.
            warnings.simplefilter("ignore", SlowdownWarning)
            compile_job(self._model_of(workload.network), config, edges=edges)  # or it is refused
        return workload

    def _model_of(self, network: Network) -> InitialModel:
        """The model with the orders of a network."""
        if network not in self._models:
            self._models[network] = InitialModel.of(network, self._model.recipe, self._model.sample)
        return self._models[network]


class StatisticSteps:
    """A step on random graphs with known statistics.

    Parameters
    ----------
    vertices : sequence of int
        Vertices of the input, and of every layer's output.
    edges : sequence of int
        Entries of every layer's adjacency matrix: edges in both directions, and loops.
    network : Network
        The network that is trained.
    law : str
        How edges are distributed over the vertices they come from, see ``Expected``.
    sampled : bool
        Whether it is a sampled batch, whose features are read from memory, and whose step works on
        the next batch if the first layer aggregates first.
    fastest : bool
        As of ``GraphSteps``.
    """

    def __init__(self, vertices: Sequence[int], edges: Sequence[int], network: Network, *,
                 law: str = "power", sampled: bool = False, fastest: bool = False) -> None:
        self._vertices = tuple(vertices)
        self._edges = tuple(edges)
        self._network = network
        self._law = law
        self._sampled = sampled
        self._fastest = fastest

    def __call__(self, config: Config) -> Workload:
        """The workload on a configuration."""
        workload = Workload.of_statistics(
            self._vertices, self._edges, self._network, config, law=self._law,
            sampled=self._sampled, pipelined=self._sampled)
        return choose_orders(workload) if self._fastest else workload
