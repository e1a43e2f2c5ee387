# SPDX-License-Identifier: BSD-2-Clause
"""Halos and replicas are what random partitions of random graphs have."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.cycle_model.aggregations import degree_counts
from hypercast.host.planner.statistics import Part, Statistics, summed_edges
from hypercast.reference.models import model_network
from hypercast.reference.network import LINEAR, Network


def drawn(vertices, edges, seed):
    """Edges of a random graph with the degrees of a power law, and each vertex's degree."""
    degrees, counts = degree_counts(vertices, edges, "power")
    degree = np.repeat(degrees, counts)
    ends = np.random.default_rng(seed).permutation(np.repeat(np.arange(vertices), degree))
    return ends[:len(ends) // 2 * 2].reshape(-1, 2), degree


@pytest.mark.parametrize("count", [2, 8])
@pytest.mark.parametrize(("vertices", "edges"), [(3000, 9_000), (3000, 90_000)])
def test_what_a_random_graph_has(vertices, edges, count):
    ends, degree = drawn(vertices, edges, 1)
    statistics = Statistics.whole(vertices, len(ends) * 2, 1)
    owner = np.random.default_rng(2).integers(count, size=vertices)
    both = np.concatenate([ends, ends[:, ::-1]])
    cut = both[owner[both[:, 0]] != owner[both[:, 1]]]
    halo = len({(source, part) for source, part in zip(cut[:, 0], owner[cut[:, 1]], strict=True)})
    assert statistics.halo(count) == pytest.approx(halo / count, rel=0.1)
    lower = np.where(degree[ends[:, 0]] < degree[ends[:, 1]], ends[:, 0], ends[:, 1])
    parts = owner[lower]
    replicas = len({*zip(ends.ravel(), np.repeat(parts, 2), strict=True)})
    assert statistics.replicas(count) == pytest.approx(replicas / count, rel=0.2)


@given(st.integers(2, 5000), st.integers(1, 60), st.integers(2, 16))
def test_bounds(vertices, degree, count):
    statistics = Statistics.whole(vertices, vertices * degree, 2)
    assert 0 <= statistics.halo(count) <= vertices
    assert statistics.replicas(count) <= vertices
    part = statistics.part(count)
    assert count * (part.vertices[0] - 1) < vertices < count * (part.vertices[0] + 1)


def test_parts_are_known_or_all_alike():
    divided = Statistics.whole(100, 700, 2, divisions=(
        (Part(30, 500, 20), Part(70, 200, 10)), (Part(100, 700, 0),)))
    assert [(part.vertices, part.edges) for part in divided.parts(2)] == [
        ((30,) * 3, (500,) * 2), ((70,) * 3, (200,) * 2)]
    assert (divided.halos(2), divided.halo(2)) == ([20, 10], 20)
    assert divided.largest(2) == Statistics.whole(70, 500, 2)
    assert divided.parts(4) == [divided.part(4)] == [Statistics.whole(25, 175, 2)]
    assert divided.halos(4) == [divided.halo(4)]
    assert divided.largest(4) == divided.part(4)


def test_a_number_for_every_layer():
    with pytest.raises(ValueError, match="2 layers has 3 numbers of vertices, not 2"):
        Statistics(vertices=(1, 2), edges=(3, 4))


def test_linear_layers_are_as_others():
    network = model_network("gin", 12, [8], 4)
    assert [layer.order == LINEAR for layer in network.layers] == [False, True] * 2
    assert summed_edges(network, [30, 5, 20, 4]) == [30, 30, 20, 30]
    assert summed_edges(Network.of_widths([3, 2, 2]), [7, 6]) == [7, 6]


def test_what_is_square():
    """All layers have the same vertices, and the same edges."""
    assert Statistics.whole(9, 30, 2).square and Statistics.whole(9, 30, 1).square
    for vertices, edges in (((9, 9, 9), (30, 20)), ((9, 9, 8), (30, 30)), ((9, 8, 8), (20, 30))):
        assert not Statistics(vertices=vertices, edges=edges).square


def test_a_part_has_a_vertex_and_an_edge_at_least():
    sample = Statistics(vertices=(40, 10, 2), edges=(60, 8), sampled=True, law="uniform")
    assert sample.part(4) == Statistics(
        vertices=(10, 2, 1), edges=(15, 2), sampled=True, law="uniform")
    assert sample.part(1000) == Statistics(
        vertices=(1, 1, 1), edges=(1, 1), sampled=True, law="uniform")
    lonely = Statistics.whole(3, 2, 2, divisions=((Part(1, 0, 0), Part(2, 2, 0)),))
    assert lonely.parts(2) == [Statistics.whole(1, 1, 2), Statistics.whole(2, 2, 2)]


def test_vertex_cuts_are_known_or_expected():
    """Each copy of a vertex has a loop; the other entries are dealt."""
    known = Statistics.whole(100, 700, 2, cuts=((2, 60, 400), (4, 40, 250)))
    assert known.cut(2) == (60, 400) and known.cut(4) == (40, 250)
    replicas = known.replicas(3)
    assert known.cut(3) == (replicas, 600 // 3 + replicas) and 33 < replicas < 100
    assert Statistics.whole(1, 1, 1).cut(2) == (0, 1)


@pytest.mark.parametrize("law", ["uniform", "power"])
@pytest.mark.parametrize(("vertices", "edges"), [(300, 1500), (300, 301), (40, 800), (5, 0)])
@pytest.mark.parametrize("count", [2, 3, 16])
def test_replicas_vertex_by_vertex(vertices, edges, count, law):
    """A neighbour of a lower degree hashes the edge to any part; others leave it at home."""
    statistics = Statistics(vertices=(vertices, 1), edges=(edges,), law=law)
    degrees = np.repeat(*degree_counts(vertices, edges, law))
    expected = 0.0
    for degree in degrees:
        lower = degrees[degrees < degree].sum() / max(1, degrees.sum())
        here = (1 - 1 / count) ** (degree * lower)  # none of them brings it to a part
        expected += 1 / count + (1 - 1 / count) * (1 - here)
    assert statistics.replicas(count) == pytest.approx(expected, abs=0.51)
    read = sum(1 - (1 - 1 / count) ** float(degree) for degree in degrees)
    assert statistics.halo(count) == pytest.approx(read * (count - 1) / count, abs=0.51)
    if law == "power":
        assert statistics.cut(count) == Statistics.whole(vertices, edges, 1).cut(count)
