# SPDX-License-Identifier: BSD-2-Clause
"""The default orders of a training's products: of its network, and of what it is trained on."""

from collections.abc import Sequence

import numpy as np

from hypercast.host.cycle_model.default_orders import default_orders, panel_words
from hypercast.host.graphs.graph import Graph
from hypercast.host.runtime.epochs import AHEAD_STEPS
from hypercast.host.schemes.sample_source import SampleSource
from hypercast.reference.network import Network
from hypercast.reference.recipe import Recipe

__all__ = ["ordered_for_graph", "ordered_for_numbers", "ordered_for_samples"]


def ordered_for_graph(network: Network, graph: Graph, element_width: int) -> Network:
    """The network with the default orders of a training on a whole graph.

    Whatever normalisation adds, a loop is counted for each vertex.

    Parameters
    ----------
    network : Network
        With any orders.
    graph : Graph
        What is trained on.
    element_width : int
        Bits of an element.
    """
    layers, loops = len(network.layers), np.count_nonzero(graph.edges.diagonal())
    entries = graph.edges.nnz + graph.vertices - loops
    return default_orders(network, [graph.vertices] * (layers + 1), [entries] * layers,
                          element_width, words=panel_words(graph.features))


def ordered_for_samples(network: Network, samples: SampleSource, recipe: Recipe) -> Network:
    """The network with the default orders of a training on samples, by the first of them.

    A step works ahead of the next one where a sample is a step, and there are enough of them.

    Parameters
    ----------
    network : Network
        With any orders.
    samples : SampleSource
        What is trained on.
    recipe : Recipe
        How.
    """
    first = samples.first
    return default_orders(
        network, first.rows, [matrix.nnz for matrix in first.edges], recipe.element_width,
        sampled=True, resident=first.origin is not None,
        pipelined=recipe.micro_batches == 1 and len(samples) >= AHEAD_STEPS)


def ordered_for_numbers(network: Network, vertices: Sequence[int], edges: Sequence[int],
                        recipe: Recipe, *, law: str, sampled: bool) -> Network:
    """The network with the default orders of a training on what is only counted.

    Parameters
    ----------
    network, vertices, edges, law, sampled
        As of ``default_orders``.
    recipe : Recipe
        How; of samples, an epoch is taken to have many.
    """
    return default_orders(network, vertices, edges, recipe.element_width, law=law, sampled=sampled,
                          resident=sampled, pipelined=sampled and recipe.micro_batches == 1)
