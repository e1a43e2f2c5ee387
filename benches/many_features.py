# SPDX-License-Identifier: BSD-2-Clause
"""A dense graph with hubs and many features: accuracy of the fixed-point reference and of float64.

Sums of so many features grow a hundredfold in Adam's first update, and neighbours of hubs have
small edge weights: both ask much of elements that share one exponent.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from hypercast.benches.against_float import (
    against_float_figures,
    best_validated,
    train_all,
)
from hypercast.benches.figure import Figure
from hypercast.host.graphs.datasets import random_split
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.graph_arguments import graph_arguments
from hypercast.host.graphs.parallel_edges import Parallel
from hypercast.reference.array_types import FloatArray
from hypercast.reference.network import Network

__all__ = ["many_features_figures", "many_features_graph"]

#: Classes of the graph; share of its edges that stay in a class, and of features that tell it.
_CLASSES, _WITHIN, _TELLING = 6, 0.3, 0.1
#: Numbers of neighbours, and of vertices with a feature, fall by these powers of their ranks.
_HUBS, _COMMON = 0.75, 0.9
_RECIPE: dict[str, Any] = {
    "optimiser": "adam", "learning_rates": (0.01,), "bias_learning_rates": (0.01,),
    "weight_decays": (1e-5, 0.0)}


def many_features_graph(*, vertices: int = 5_000, edges: int = 170_000, features: int = 8_000,
                        entries: int = 70, seed: int = 0) -> Graph:
    """A graph of communities, some of whose vertices have a great many neighbours.

    Parameters
    ----------
    vertices, features : int
        Sizes.
    edges : int
        Undirected edges that are drawn; edges drawn twice are one.
    entries : int
        Features of a vertex, on average; they are divided by their sum.
    seed : int
        Seed of all random choices.

    Returns
    -------
    Graph
        60 % of the vertices are to train on, 20 % for validation.
    """
    generator = np.random.default_rng(seed)
    labels = generator.integers(_CLASSES, size=vertices)
    weights = _falling(generator, vertices, _HUBS)
    ends = generator.choice(vertices, (edges, 2), p=weights)
    within = generator.random(edges) < _WITHIN
    for label in range(_CLASSES):
        own = np.flatnonzero(labels == label)
        chosen = within & (labels[ends[:, 0]] == label)
        ends[chosen, 1] = generator.choice(
            own, np.count_nonzero(chosen), p=weights[own] / weights[own].sum())
    common = _falling(generator, features, _COMMON)
    telling = [common * (generator.random(features) < _TELLING) for _ in range(_CLASSES)]
    rows = np.repeat(np.arange(vertices), generator.poisson(entries, vertices) + 1)
    columns = generator.choice(features, len(rows), p=common)
    told = generator.random(len(rows)) < _TELLING
    for label, share in enumerate(telling):
        chosen = told & (labels[rows] == label)
        columns[chosen] = generator.choice(
            features, np.count_nonzero(chosen), p=share / share.sum())
    values = scipy.sparse.csr_array(
        (np.ones(len(rows)), (rows, columns)), shape=(vertices, features))
    values = scipy.sparse.csr_array(scipy.sparse.diags_array(1 / values.sum(axis=1)) @ values)
    return Graph(**graph_arguments(ends, values, labels, **random_split(labels, seed=seed),
                                   parallel=Parallel.SET))


def many_features_figures(progress: Callable[[str], None], *, seeds: int, epochs: int,
                          bars: dict[int, float], **sizes: int) -> list[Figure]:
    """Test accuracy at the best validated evaluation, means over seeds.

    Parameters
    ----------
    progress : callable
        Called with a line of text before each training.
    seeds : int
        Graphs, each with initial weights and dropout of its own.
    epochs : int
        Training steps.
    bars : dict
        Element width to the points that accuracy may be below float64's.
    **sizes
        Arguments of ``many_features_graph``.
    """
    # Else accuracy still swings by points when training ends, whatever computes it.
    schedule = ((max(3 * epochs // 5, 1), 0.3), (max(4 * epochs // 5, 2), 0.1))
    trainings = []
    for seed in range(seeds):
        graph = many_features_graph(seed=seed, **sizes)
        network = Network.of_widths([graph.features.shape[1], 128, graph.classes], dropout=0.5)
        trainings.append(train_all(
            graph, network, {**_RECIPE, "seed": seed, "schedule": schedule}, bars,
            lambda model: best_validated(model, epochs),
            lambda text: progress(f"many features, {text}")))
    return against_float_figures("Many features and hubs, GCN", trainings, bars)


def _falling(generator: np.random.Generator, count: int, power: float) -> FloatArray:
    """Probabilities that fall by a power of their rank, in random order."""
    weights = (generator.permutation(count) + 10.0) ** -power
    falling: FloatArray = weights / weights.sum()
    return falling
