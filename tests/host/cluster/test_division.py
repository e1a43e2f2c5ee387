"""Vertices among boards: none is left out, edges are balanced, and few cross."""

import sys

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.cluster.division import Division
from hypercast.host.cluster.group import ClusterError
from hypercast.host.graphs.graph import Graph


def random_edges(vertices, share, seed):
    matrix = scipy.sparse.random_array((vertices, vertices), density=share, rng=seed)
    return scipy.sparse.csr_array(matrix + scipy.sparse.eye_array(vertices))


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 60), st.integers(1, 16), st.floats(0, 0.3), st.integers(0, 99))
def test_counts(vertices, boards, share, seed):
    edges = random_edges(vertices, share, seed)
    if boards > vertices:
        with pytest.raises(ClusterError, match=f"{boards} boards share {vertices} vertices"):
            Division.of(edges, boards)
        return
    division = Division.of(edges, boards)
    assert set(division.boards) == set(range(boards))
    dense = edges.toarray() != 0
    for board in range(boards):
        own = division.boards == board
        assert division.edges[board] == dense[own].sum()
        assert division.halos[board] == dense[own][:, ~own].any(axis=0).sum()
    assert division.cut == dense.sum() - sum(
        dense[np.ix_(division.boards == board, division.boards == board)].sum()
        for board in range(boards))


def test_communities_stay_together_and_edges_are_balanced():
    graph = Graph.load("blocks")
    division = Division.of(graph.edges, 4)
    dealt = Division.counted(graph.edges, np.arange(graph.vertices) // 64, 4)
    assert division.edges.max() < 1.1 * division.edges.mean()
    assert division.cut < 0.5 * dealt.cut
    assert "4 boards share the graph: the busiest has" in str(division)


def test_without_metis(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(ClusterError, match=r"no pymetis; install it: pip install 'hypercast.clus"):
        Division.of(random_edges(9, 0.1, 0), 2)


def test_edges_by_parts():
    graph = Graph.load("blocks")
    parts = [0.4, 0.3, 0.2, 0.1]
    edges = Division.of(graph.edges, 4, parts).edges
    assert np.allclose(edges / edges.sum(), parts, atol=0.02)
    equal = Division.of(graph.edges, 4, [3.0] * 4)
    assert np.array_equal(equal.boards, Division.of(graph.edges, 4).boards)
