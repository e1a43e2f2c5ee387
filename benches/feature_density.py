# SPDX-License-Identifier: BSD-2-Clause
"""Epochs of the reference with dense features and with the same ones sparse, over densities."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse

from hypercast.benches.figure import Figure
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.graph_checks import SPARSE_DENSITY
from hypercast.host.runtime.reference_device import ReferenceDevice
from hypercast.host.training.prepare import prepare
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, Network
from hypercast.reference.recipe import Recipe

__all__ = ["density_figures"]

#: Cora's vertices, edges of each, and features.
_VERTICES, _DEGREE, _FEATURES = 2_708, 4, 1_433
_DENSITIES = (0.01, 0.03, SPARSE_DENSITY, 0.25, 0.5, 1.0)
#: Properties of the first layer: dropout, and the order of its products.
_LAYERS = {"dropout": (0.5, COMBINE_FIRST), "no dropout": (0.0, COMBINE_FIRST),
           "aggregated first": (0.0, AGGREGATE_FIRST)}


def density_figures(progress: Callable[[str], None], *, vertices: int = _VERTICES,
                    features: int = _FEATURES, densities: Sequence[float] = _DENSITIES,
                    epochs: int = 5) -> list[Figure]:
    """CPU time of an epoch with dense features by that with sparse ones, which are faster above 1.

    Parameters
    ----------
    progress : callable
        Called with a line of text before each graph.
    vertices, features : int
        Sizes of the graph.
    densities : sequence of float
        Shares of the features that are not zero.
    epochs : int
        The fastest of so many counts.
    """
    generator, figures = np.random.default_rng(0), []
    edges = np.unique(generator.integers(vertices, size=(vertices * _DEGREE // 2, 2)), axis=0)
    for density in densities:
        progress(f"features of which {density:.3g} are not zero")
        values = np.where(generator.random((vertices, features)) < density,
                          generator.random((vertices, features)), 0.0)
        graph = Graph.from_edges(edges, values, generator.integers(4, size=vertices),
                                 train=range(0, vertices, 10))
        forms = [replace(graph, features=form(values))
                 for form in (np.asarray, scipy.sparse.csr_array)]
        for name, (dropout, order) in _LAYERS.items():
            network = Network.of_widths([features, 16, graph.classes], dropout=dropout)
            network = network.with_orders([order, COMBINE_FIRST])
            dense, sparse = (_epoch(one, network, epochs) for one in forms)
            figures.append(Figure(
                name=f"density {density:.3g}, {name}: CPU time of an epoch, dense by "
                     f"sparse", value=dense / sparse, unit="x"))
    return figures


def _epoch(graph: Graph, network: Network, epochs: int) -> float:
    """CPU seconds of the fastest of some epochs."""
    device = ReferenceDevice(prepare(graph, network, Recipe(epochs=epochs)))
    found = []
    for _ in range(epochs):
        begin = time.process_time()
        device.train_step()
        device.evaluate()
        found.append(time.process_time() - begin)
    return min(found)
