# SPDX-License-Identifier: BSD-2-Clause
"""A generated graph with communities."""

import numpy as np
import pytest

from hypercast.benches.community_graph import community_edges
from hypercast.host.cluster.division import Division


@pytest.mark.parametrize(("vertices", "communities"), [(600, 6), (601, 7)])
def test_edges_lead_both_ways_and_mostly_stay_inside(vertices, communities):
    edges = community_edges(vertices, 6000, communities=communities)
    assert edges.shape == (vertices, vertices)
    assert (edges != edges.T).nnz == 0
    assert np.all(edges.diagonal() == 1)
    assert np.all(edges.data == 1)
    assert 5000 < edges.nnz - vertices < 6000


def test_a_division_finds_the_communities():
    found = [Division.of(community_edges(800, 8000, communities=8, inside=inside), 4).cut
             for inside in (0.95, 0.0)]
    assert found[0] < 0.2 * found[1]
