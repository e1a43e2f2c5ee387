# SPDX-License-Identifier: BSD-2-Clause
"""The matrices that steps aggregate with: which, how often, and where each is used."""

import itertools

import numpy as np
import pytest
import scipy.sparse

from hypercast.host.compiler.edge_matrices import (
    edge_matrices,
    of_layers,
    select_matrices,
)
from hypercast.reference.network import (
    AGGREGATE_FIRST,
    COMBINE_FIRST,
    LINEAR,
    ROOT_IDENTITY,
    Layer,
    Network,
)
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import Sample
from hypercast.rtl.isa import Split

SYMMETRIC = np.array([[1.0, 0.5, 0], [0.5, 1, 0], [0, 0, 1]])
DIRECTED = np.array([[1.0, 0.5, 0], [0, 1, 0], [0, 0, 1]])


def network(*orders, root=None):
    return Network(layers=tuple(
        Layer(features_in=3, features_out=3, order=order, root=root if not number else None)
        for number, order in enumerate(orders)))


def mantissas(adjacency):
    """The matrix in halves."""
    return scipy.sparse.csr_array((2 * adjacency).astype("int64"))


def listed(found, adjacency, *, symmetric=True):
    """(name, result, source, uses, root) of each, and the matrices by name."""
    matrices = [scipy.sparse.csr_array(matrix) for matrix in adjacency] if isinstance(
        adjacency, list) else scipy.sparse.csr_array(adjacency)
    last = adjacency[-1] if isinstance(adjacency, list) else adjacency
    first = adjacency[0] if isinstance(adjacency, list) else adjacency
    sample = Sample.of(found, Recipe(), matrices, np.ones((first.shape[1], 3)),
                       np.arange(len(last)) % 3, np.full(len(last), Split.TRAIN))
    edges = edge_matrices(found, sample.edges, sample.root_weight, symmetric=symmetric)
    return sample, [(one.name, one.result, one.source, one.uses, one.root) for one in edges], {
        one.name: one.matrix.todense() for one in edges}


BOTH = COMBINE_FIRST, COMBINE_FIRST
WAYS = ((1, False), (2, False)), ((1, True), (2, True))


def test_a_symmetric_matrix_serves_both_ways():
    _, found, _ = listed(network(*BOTH), SYMMETRIC)
    assert found == [("A", 1, 0, WAYS[0] + WAYS[1], False)]
    _, apart, _ = listed(network(*BOTH), SYMMETRIC, symmetric=False)
    assert apart == [("A", 1, 0, WAYS[0], False), ("A^T", 0, 1, WAYS[1], False)]


def test_a_directed_one_does_not():
    sample, found, matrices = listed(network(*BOTH), DIRECTED)
    assert found == [("A", 1, 0, WAYS[0], False), ("A^T", 0, 1, WAYS[1], False)]
    np.testing.assert_array_equal(matrices["A"], sample.edges[0].todense())
    np.testing.assert_array_equal(matrices["A^T"], sample.edges[0].todense().T)


@pytest.mark.parametrize(("orders", "forward", "backward"), [
    ((AGGREGATE_FIRST, COMBINE_FIRST), (1, 2), (2,)),  # features have no gradient
    ((COMBINE_FIRST, AGGREGATE_FIRST), (1, 2), (1, 2)),
    ((COMBINE_FIRST, LINEAR, AGGREGATE_FIRST), (1, 3), (1, 3)),
    ((LINEAR, COMBINE_FIRST), (2,), (2,)), ((LINEAR, LINEAR), (), ()), ((AGGREGATE_FIRST,), (1,),
                                                                        ())])
def test_uses(orders, forward, backward):
    _, found, _ = listed(network(*orders), DIRECTED)
    uses = {name: uses for name, _, _, uses, _ in found}
    assert uses.get("A", ()) == tuple((number, False) for number in forward)
    assert uses.get("A^T", ()) == tuple((number, True) for number in backward)


def test_layers_of_fewer_vertices():
    first, second = np.ones((2, 3)), np.ones((1, 2))
    _, found, _ = listed(network(*BOTH), [first, second])
    assert found == [
        ("A1", 1, 0, ((1, False),), False), ("A1^T", 0, 1, ((1, True),), False),
        ("A2", 2, 1, ((2, False),), False), ("A2^T", 1, 2, ((2, True),), False)]


def test_rows_that_are_added():
    """The identity, times one as an edge weight."""
    sample, found, matrices = listed(network(*BOTH, root=ROOT_IDENTITY), DIRECTED)
    assert found[-1] == ("I", 1, 0, WAYS[0] + WAYS[1], True) and len(found) == 3
    np.testing.assert_array_equal(matrices["I"], sample.root_weight * np.eye(3, dtype=int))
    sample, found, matrices = listed(network(*BOTH, root=ROOT_IDENTITY),
                                     [np.ones((2, 3)), np.ones((1, 2))])
    assert [entry[:3] + entry[4:] for entry in found if entry[4]] == [
        ("I1", 1, 0, True), ("I1^T", 0, 1, True), ("I2", 2, 1, True), ("I2^T", 1, 2, True)]
    np.testing.assert_array_equal(matrices["I1^T"], sample.root_weight * np.eye(3, 2, dtype=int))


@pytest.mark.parametrize("root", [None, ROOT_IDENTITY])
@pytest.mark.parametrize("adjacency", [SYMMETRIC, DIRECTED])
def test_what_other_orders_use(adjacency, root):
    """Other orders use some of the combine-first layers' matrices; those of added rows stay."""
    first = network(*[COMBINE_FIRST] * 3, root=root)
    sample, found, _ = listed(first, adjacency)
    edges = edge_matrices(first, sample.edges, sample.root_weight, symmetric=True)
    assert [(one.name, one.uses) for one in select_matrices(first, edges)] == [
        (name, uses) for name, _, _, uses, _ in found]
    for orders in itertools.product((COMBINE_FIRST, AGGREGATE_FIRST, LINEAR), repeat=3):
        if root and orders[0] != COMBINE_FIRST:
            continue
        other = first.with_orders(orders)
        expected = {}
        for one in edges:
            uses = tuple((number, way) for number, way in one.uses if one.root or (
                orders[number - 1] != LINEAR
                and not (way and number == 1 and orders[0] == AGGREGATE_FIRST)))
            expected |= {one.name: uses} if uses else {}
        assert {one.name: one.uses for one in select_matrices(other, edges)} == expected


def test_stored_zeros_are_zeros():
    """A matrix that stores one on one side of the diagonal only is symmetric."""
    matrix = scipy.sparse.csr_array(SYMMETRIC)
    stored = scipy.sparse.csr_array(
        (np.append(matrix.data, 0.0), np.append(matrix.indices, 0),
         matrix.indptr + np.array([0, 0, 0, 1])), shape=matrix.shape)
    found = network(*BOTH)
    for edges, names in ((stored, ["A"]), (scipy.sparse.csr_array(DIRECTED), ["A", "A^T"])):
        sample = Sample.of(found, Recipe(), edges, np.ones((3, 3)), np.arange(3),
                           np.full(3, Split.TRAIN))
        assert sample.edges[0].nnz == edges.nnz
        assert [one.name for one in edge_matrices(
            found, sample.edges, sample.root_weight, symmetric=True)] == names


@pytest.mark.parametrize("root", [None, ROOT_IDENTITY])
def test_nothing_is_used_backward_where_nothing_is_trained(root):
    """Symmetric or not; layers of fewer vertices have lists of rows that are added, too."""
    for matrices in ([SYMMETRIC] * 2, [DIRECTED] * 2, [DIRECTED, DIRECTED[:2]]):
        matrices = [scipy.sparse.csr_array(matrix) for matrix in matrices]
        found, every = (
            edge_matrices(network(COMBINE_FIRST, COMBINE_FIRST, root=root), matrices,
                          1 if root else 0, symmetric=True, trained=trained)
            for trained in (False, True))
        assert all(not way for one in found for _, way in one.uses if not one.root)
        assert [one.name for one in found] == [
            one.name for one in every if not one.name.endswith("^T")]


def test_a_list_for_all_samples():
    """Whatever the shapes are of one sample, the others' say which matrices there are."""
    whole, part = [mantissas(SYMMETRIC)] * 2, [mantissas(DIRECTED), mantissas(DIRECTED[:2])]
    trained = network(*BOTH, root=ROOT_IDENTITY)
    for matrices, names in ((whole, "A A^T I I^T"),
                            (part, "A1 A1^T I1 I1^T A2 A2^T I2 I2^T")):
        assert [one.name for one in edge_matrices(
            trained, matrices, 1, symmetric=False, square=False)] == names.split()
    for square, names in ((None, "A I"), (True, "A I"), (False, "A A^T I I^T")):
        assert [one.name for one in edge_matrices(
            trained, whole, 1, symmetric=True, square=square)] == names.split()


@pytest.mark.parametrize("trained", [True, False])
@pytest.mark.parametrize("adjacency", [SYMMETRIC, DIRECTED])
def test_what_some_layers_use(adjacency, trained):
    """A pass forward, and backward if it is trained; the rest stays as it is."""
    found = network(*[COMBINE_FIRST] * 4, root=ROOT_IDENTITY)
    edges = edge_matrices(found, [mantissas(adjacency)] * 4, 1, symmetric=True)
    for layers in (range(begin, end) for begin, end in itertools.combinations(range(1, 6), 2)):
        expected = [
            one._replace(uses=uses) for one in edges if (uses := tuple(
                (number, way) for number, way in one.uses
                if number in layers and way in ((False, True) if trained else (False,))))]
        assert [*of_layers(edges, layers, trained=trained)] == expected
        assert len(expected) == (3 if trained and adjacency is DIRECTED else 2)
