# SPDX-License-Identifier: BSD-2-Clause
"""A vertex cut has every edge once, and every vertex' loss once."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given
from hypothesis import strategies as st

from hypercast import Graph
from hypercast.host.graphs.sampling.vertex_cut import VertexCut, largest_part
from tests.host.graphs.sampling.sampling_cases import matrices, matrix_of


def graph_of(matrix, train=None):
    vertices = matrix.shape[0]
    return Graph.from_scipy(matrix, np.ones((vertices, 2)), np.arange(vertices) % 2, directed=True,
                            train=range(vertices) if train is None else train)


def cut(graph, parts, *, kind="given", **changes):
    return VertexCut(graph, kind, 0.0, **{"parts": parts, "layers": 2, "seed": 1} | changes)


def whole(cut_, vertices):
    """What the parts have, together: edges, and mean losses of vertices."""
    edges, losses = np.zeros((vertices, vertices)), np.zeros(vertices)
    for number in range(len(cut_)):
        batch = cut_.batch(0, number)
        assert len(batch.levels) == 3 and all(level is batch.inputs for level in batch.levels)
        assert len(np.unique(batch.inputs)) == len(batch.inputs)
        assert batch.loss_weights.max() <= cut_.heaviest
        edges[np.ix_(batch.inputs, batch.inputs)] += batch.matrices[0].todense()
        losses[batch.targets] += batch.loss_weights / len(cut_)
    return edges, losses


@given(matrices(), st.integers(1, 5), st.integers(0, 9), st.data())
def test_parts_have_everything_once(matrix, parts, seed, data):
    vertices = matrix.shape[0]
    train = data.draw(st.lists(st.integers(0, vertices - 1), min_size=1, unique=True))
    graph = graph_of(matrix, train)
    try:
        found = cut(graph, parts, seed=seed)
    except ValueError:
        assume(False)
    edges, losses = whole(found, vertices)
    np.testing.assert_array_equal(edges, graph.edges.todense())
    batches = [found.batch(0, number) for number in range(parts)]
    assert largest_part(graph, parts, seed) == (
        max(len(batch.inputs) for batch in batches),
        max(batch.matrices[0].nnz for batch in batches))
    expected = np.zeros(vertices)
    expected[train] = 1 / len(train)
    np.testing.assert_allclose(losses, expected)


@given(matrices(), st.integers(2, 4))
def test_both_directions_of_an_edge_are_in_one_part(matrix, parts):
    graph = graph_of(matrix)
    try:
        found = cut(graph, parts)
    except ValueError:
        assume(False)
    there = graph.edges.todense() > 0
    for number in range(parts):
        batch = found.batch(3, number)
        own = batch.matrices[0].todense() > 0
        both = (there & there.T)[np.ix_(batch.inputs, batch.inputs)]
        assert (own.T[own & both]).all()


def test_a_vertex_of_high_degree_is_cut_and_others_are_not():
    """The hub of a star is in every part; a leaf has one edge, and so one part."""
    leaves = 40
    star = Graph.from_edges([[0, leaf] for leaf in range(1, leaves + 1)], np.ones((leaves + 1, 1)),
                            np.arange(leaves + 1) % 2, train=range(leaves + 1))
    found = cut(star, 4)
    members = [found.batch(0, number).inputs for number in range(4)]
    assert all(0 in one for one in members)
    assert sorted(np.concatenate([one[1:] for one in members])) == list(range(1, leaves + 1))


def test_each_part_is_normalised_as_a_graph_of_its_own():
    graph = graph_of(matrix_of(20, 60, loops=False))
    for kind in ("symmetric", "mean", "neighbours", "sum"):
        found = cut(graph, 3, kind=kind, layers=1)
        given_ = cut(graph, 3, layers=1)
        for number in range(3):
            batch, plain = found.batch(0, number), given_.batch(0, number)
            own = graph_of(scipy.sparse.csr_array(plain.matrices[0]))
            np.testing.assert_allclose(batch.matrices[0].todense(),
                                       own.normalise(kind).todense())


@pytest.mark.parametrize("kind", ["symmetric", "mean"])
def test_every_copy_of_a_vertex_has_its_loop(kind):
    """With the weight that the graph gives it, also of 0, or 1 if it has none."""
    random = np.random.default_rng(4)
    matrix = matrix_of(20, 60, loops=False).tolil()
    loops = random.choice([0.5, 3.0, 0.0, np.nan], 20)
    edges = np.argwhere(matrix.toarray())[:, ::-1]
    own = np.flatnonzero(~np.isnan(loops))
    weights = np.concatenate([random.random(len(edges)) + 0.5, loops[own]])
    graph = Graph.from_edges(np.concatenate([edges, np.stack([own, own], axis=1)]),
                             np.ones((20, 2)), np.arange(20) % 2, train=range(20), weights=weights,
                             directed=True)
    expected = np.where(np.isnan(loops), 1.0, loops)
    whole_ = cut(graph, 1, kind=kind).batch(0, 0)
    assert (whole_.matrices[0] != graph.normalise(kind)[whole_.inputs][:, whole_.inputs]).nnz == 0
    found, plain = cut(graph, 3, kind=kind, layers=1), cut(graph, 3, layers=1)
    vertices, edges = largest_part(graph, 3, 1, looped=True)
    assert vertices == max(len(found.batch(0, number).inputs) for number in range(3))
    assert edges == max(
        np.count_nonzero(one - np.diag(np.diag(one))) for number in range(3)
        for one in [found.batch(0, number).matrices[0].toarray()])
    for number in range(3):
        batch = found.batch(0, number)
        part = plain.batch(0, number).matrices[0].toarray()
        np.fill_diagonal(part, expected[batch.inputs])
        sums = part.sum(axis=1)
        safe = np.where(sums, sums, np.inf)  # a row with a loop of 0 alone
        left, right = (safe**-0.5,) * 2 if kind == "symmetric" else (1 / safe, np.ones(len(sums)))
        np.testing.assert_allclose(batch.matrices[0].toarray(),
                                   left[:, None] * part * right[None, :])


def test_parts_depend_on_the_seed_only():
    graph = graph_of(matrix_of(30, 100))
    one, same, other = cut(graph, 3), cut(graph, 3), cut(graph, 3, seed=2)
    def members(found):
        return [found.batch(0, number).inputs.tolist() for number in range(3)]
    assert members(one) == members(same) != members(other)


def test_parts_without_a_vertex_to_train_on_are_refused():
    graph = graph_of(matrix_of(30, 100), train=[3])
    with pytest.raises(ValueError, match=r"of 64 parts of a vertex cut, \d+ have none of the 1 "
                                         r"vertices to train on; take fewer parts, or another"):
        cut(graph, 64)
