# SPDX-License-Identifier: BSD-2-Clause
"""Every core gets as many rows as the others, and about as many edges, at any number of cores."""

import heapq

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.rank_order import rank_order
from hypercast.rtl.placement import SPREAD, core_of, rows_of


def make(edges, vertices, **changes):
    return Graph.from_edges(np.reshape(edges, (-1, 2)), np.eye(vertices, 3) + 1,
                            np.zeros(vertices, dtype=int), train=[0], **changes)


@given(st.integers(1, 150).flatmap(lambda count: st.tuples(st.just(count), st.lists(
    st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=200))))
def test_order_is_a_permutation(case):
    vertices, edges = case
    graph = make(edges, vertices)
    order = rank_order(graph)
    assert sorted(order) == list(range(vertices))
    permuted = graph.permute(order)
    assert np.array_equal(permuted.edges.todense(), graph.edges.todense()[order][:, order])
    assert np.array_equal(permuted.features, graph.features[order])


def dealt(degrees):
    """Vertices one by one, each to the core with the fewest edges so far and rows to spare."""
    vertices, cores = len(degrees), 64
    rows = [rows_of(core, vertices, cores) for core in range(cores)]
    loads = [(0, core) for core in range(cores) if rows[core]]
    heapq.heapify(loads)
    parts = [[] for _ in range(cores)]
    for vertex in np.argsort(-degrees, kind="stable").tolist():
        load, core = heapq.heappop(loads)
        parts[core].append(vertex)
        if len(parts[core]) < rows[core]:
            heapq.heappush(loads, (load + int(degrees[vertex]), core))
    return [parts[core_of(rank, cores)][rank // cores] for rank in range(vertices)]


@given(st.integers(1, 400), st.integers(0, 600), st.integers(0, 99))
def test_order_is_that_of_a_heap(vertices, edges, seed):
    generator = np.random.default_rng(seed)
    pairs = (vertices * generator.random((edges, 2)) ** 2).astype(int)
    graph = make(pairs, vertices, directed=True)
    adjacency = graph.edges.todense()
    np.fill_diagonal(adjacency, 0)
    assert rank_order(graph).tolist() == dealt(
        np.count_nonzero(adjacency, axis=0) + np.count_nonzero(adjacency, axis=1))


def test_the_busiest_come_first():
    """Edges count in both directions, loops do not."""
    edges = [[1, 0], [2, 0], [2, 3], [1, 1]]
    assert rank_order(make(edges, 4, directed=True)).tolist() == [0, 2, 1, 3]


@pytest.mark.parametrize("vertices", [SPREAD - 1, SPREAD, SPREAD + 77])
def test_strips_of_large_graphs_have_alike_edges(vertices):
    """Strips of any size, on any number of cores, and cores within them; no strip of a small graph.
    """
    generator = np.random.default_rng(0)
    weights = np.arange(1, vertices + 1) ** -0.5
    ends = np.searchsorted(np.cumsum(weights / weights.sum()), generator.random((400_000, 2)))
    graph = make(np.minimum(ends, vertices - 1), vertices)
    order = rank_order(graph)
    assert (np.sort(order) == np.arange(vertices)).all()
    degrees = np.diff(graph.edges.indptr)[order]
    for strip in (4_096, 16_384, 30_000):
        loads = np.add.reduceat(degrees, np.arange(0, vertices, strip))[:vertices // strip]
        assert (loads.max() < 1.12 * loads.min()) == (vertices >= SPREAD)
        if vertices >= SPREAD and strip > degrees.max() * 8:
            of_cores = np.bincount(core_of(np.arange(strip), 16), weights=degrees[:strip])
            assert of_cores.max() < 1.05 * of_cores.mean()


@pytest.mark.parametrize("cores", [2, 4, 8, 16, 32, 64])
def test_edges_are_balanced(cores):
    """A power law, with a vertex that has a tenth of a core's edges and more."""
    vertices = 6_000
    generator = np.random.default_rng(0)
    weights = np.arange(1, vertices + 1) ** -0.5
    graph = make(generator.choice(vertices, (40_000, 2), p=weights / weights.sum()), vertices)
    graph = graph.permute(rank_order(graph))
    loads = np.bincount(core_of(np.arange(vertices), cores), weights=np.diff(graph.edges.indptr))
    assert loads.max() < 1.03 * loads.mean()
