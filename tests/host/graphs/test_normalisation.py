# SPDX-License-Identifier: BSD-2-Clause
"""Edge weights and features that cannot be normalised; test_graph.py has those that can."""

import numpy as np
import pytest

from hypercast.host.graphs.graph import Graph, GraphError


def weighted(weight, features=1.0):
    edges = [(vertex, vertex + 1) for vertex in range(5)]
    return Graph.from_edges(edges, np.full((6, 2), features), [0, 1] * 3, train=[0],
                            weights=np.full(5, weight))


@pytest.mark.parametrize("kind", ["symmetric", "mean", "neighbours"])
def test_weights_whose_sum_no_number_holds(kind):
    with pytest.raises(GraphError, match=r"vertex 1.* sum to inf; scale weights down"):
        weighted(1.7e308).normalise(kind)


@pytest.mark.parametrize(("value", "remedy"), [(1.7e308, "down"), (5e-324, "up")])
def test_features_whose_sum_nothing_is_divided_by(value, remedy):
    with pytest.raises(GraphError, match=f"of vertex 0 sum to .*; scale features {remedy}"):
        weighted(1.0, value).with_normalised_features()
