# SPDX-License-Identifier: BSD-2-Clause
"""A graph on which ways to train that take old rows or weights differ: dense, and hardly homophile.

A vertex's own features tell little, and its neighbours are of its class only somewhat more often
than others. So weights move far, and sums over many neighbours follow them.
"""

import numpy as np
import scipy.sparse

from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.graph_arguments import graph_arguments
from hypercast.host.graphs.parallel_edges import Parallel

__all__ = ["stale_graph"]


def stale_graph(*, vertices: int = 1500, classes: int = 6, degree: float = 66.0,
                homophily: float = 0.3, features: int = 2000, words: int = 12,
                telling: float = 0.25, seed: int = 0) -> Graph:
    """A social graph.

    Parameters
    ----------
    vertices, classes, features : int
        Sizes.
    degree : float
        Mean number of neighbours; a few vertices have many.
    homophily : float
        Which share of them is chosen among vertices of the same class; the others from all.
    words : int
        Features that a vertex has.
    telling : float
        Which share of them is drawn from the class's own features; the others from all.
    seed : int
        Seed of all random choices.

    Returns
    -------
    Graph
        A tenth of the vertices are to train on, a fifth for validation, the others to test.
    """
    generator = np.random.default_rng(seed)
    labels = generator.integers(classes, size=vertices)
    popularity = generator.pareto(2.5, vertices) + 0.3
    count = round(vertices * degree / 2)
    sources = generator.choice(vertices, count, p=popularity / popularity.sum())
    targets = generator.choice(vertices, count, p=popularity / popularity.sum())
    same = generator.random(count) < homophily
    for label in range(classes):
        members = np.flatnonzero(labels == label)
        chosen = same & (labels[sources] == label)
        targets[chosen] = generator.choice(
            members, np.count_nonzero(chosen), p=popularity[members] / popularity[members].sum())
    edges = np.stack([sources, targets], axis=1)[sources != targets]
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    own = generator.permuted(np.tile(np.arange(features), (classes, 1)), axis=1)[
        :, :features // 20]
    drawn = generator.integers(features, size=(vertices, words))
    tell = generator.random((vertices, words)) < telling
    drawn[tell] = own[labels[:, None].repeat(words, axis=1)[tell],
                      generator.integers(own.shape[1], size=np.count_nonzero(tell))]
    rows = np.arange(vertices)[:, None].repeat(words, axis=1)
    matrix = scipy.sparse.csr_array((np.ones(drawn.size), (rows.ravel(), drawn.ravel())),
                                    shape=(vertices, features))
    matrix.data[:] = 1.0  # a word that is drawn twice counts once
    order = generator.permutation(vertices)
    return Graph(**graph_arguments(
        np.concatenate([edges, edges[:, ::-1]]), matrix, labels, train=order[:vertices // 10],
        validation=order[vertices // 10:3 * vertices // 10], test=order[3 * vertices // 10:],
        parallel=Parallel.SET))
