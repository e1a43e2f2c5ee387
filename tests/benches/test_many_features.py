# SPDX-License-Identifier: BSD-2-Clause
"""The bench of many features: the graph that it draws, and what it measures on a small one."""

import numpy as np

from hypercast.benches.many_features import many_features_figures, many_features_graph

SIZES = {"vertices": 256, "edges": 2_000, "features": 500, "entries": 30}


def test_graph():
    graph = many_features_graph(**SIZES, seed=3)
    assert graph.features.shape == (256, 500) and graph.classes == 6
    np.testing.assert_allclose(graph.features.sum(axis=1), 1)
    neighbours = np.diff(graph.edges.indptr)
    assert neighbours.max() > 4 * np.median(neighbours)
    other = many_features_graph(**SIZES, seed=4)
    assert (graph.features != other.features).nnz


def test_figures():
    lines = []
    real, fixed, below = many_features_figures(lines.append, seeds=2, epochs=20, bars={16: 0.5},
                                               **SIZES)
    assert len(lines) == 4
    assert 100 / 6 < real.value < 100
    assert below.value == real.value - fixed.value and below.bar == 0.5
