# SPDX-License-Identifier: BSD-2-Clause
"""Vertices among boards: none is left out, edges are balanced, and few cross."""

import sys

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.cluster.cluster_error import ClusterError
from hypercast.host.cluster.division import Division
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
    dealt = Division.count(graph.edges, np.arange(graph.vertices) // 64, 4)
    assert division.edges.max() < 1.1 * division.edges.mean()
    assert division.cut < 0.5 * dealt.cut
    assert "4 boards share the graph: the busiest has" in str(division)


def test_without_metis(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(ClusterError, match=r"no pymetis; install it: pip install 'hypercast-gcn"):
        Division.of(random_edges(9, 0.1, 0), 2)


def test_edges_by_parts():
    graph = Graph.load("blocks")
    parts = [0.4, 0.3, 0.2, 0.1]
    edges = Division.of(graph.edges, 4, parts).edges
    assert np.allclose(edges / edges.sum(), parts, atol=0.02)
    equal = Division.of(graph.edges, 4, [3.0] * 4)
    assert np.array_equal(equal.boards, Division.of(graph.edges, 4).boards)


@pytest.mark.parametrize("vertex_work", [0, 3, 1000])
def test_work_is_balanced(vertex_work):
    """On a graph some of whose vertices have many edges, and most hardly any."""
    generator = np.random.default_rng(0)
    ends = (400 * generator.random((2, 3000)) ** 3).astype(int)
    edges = scipy.sparse.csr_array((np.ones(3000), ends), shape=(400, 400))
    edges = scipy.sparse.csr_array(edges + edges.T + scipy.sparse.eye_array(400))
    division = Division.of(edges, 4, vertex_work=vertex_work)
    vertices = np.bincount(division.boards)
    assert np.array_equal(division.work, division.edges + vertex_work * vertices)
    assert division.work.max() < 1.1 * division.work.mean()
    if vertex_work == 0:
        assert vertices.max() > 1.1 * vertices.mean()
    if vertex_work == 1000:
        assert vertices.max() < 1.02 * vertices.mean()
    assert f"{division.work.max() / division.work.mean() - 1:.1%} more to do" in str(division)


def test_parts_of_fewer_boards_are_unions_of_those_of_more():
    edges = random_edges(300, 0.03, 1)
    owner = Division.of(edges, 8).boards
    for boards in (2, 4):
        assert np.array_equal(Division.of(edges, boards).boards, owner * boards // 8)


@given(st.integers(0, 3), st.integers(0, 30), st.integers(0, 99))
def test_parts_for_fewer_boards_are_those_of_two_each(power, work, seed):
    edges = random_edges(200, 0.03, seed)
    found = Division.of(edges, 2 << power, vertex_work=work).join(edges)
    expected = Division.of(edges, 1 << power, vertex_work=work)
    assert np.array_equal(found.boards, expected.boards)
    assert np.array_equal(found.edges, expected.edges)
    assert np.array_equal(found.halos, expected.halos)
    assert (found.cut, str(found)) == (expected.cut, str(expected))
