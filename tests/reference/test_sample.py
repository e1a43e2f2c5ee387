# SPDX-License-Identifier: BSD-2-Clause
"""Samples: what is rounded how, and what is refused."""

import numpy as np
import pytest
import scipy.sparse

from hypercast.reference.edge_weights import quantized_edge_weights
from hypercast.reference.network import LINEAR, ROOT_IDENTITY, Layer, Network
from hypercast.reference.recipe import Recipe
from hypercast.reference.sample import Mantissas, Sample
from hypercast.rtl.isa import LOSS_WEIGHT_ONE, Split
from tests.reference.random_data import data, network

TRAIN = int(Split.TRAIN)
#: Two layers of 12, 8 and 3 features, without dropout.
PLAIN = network(dropout=0)


def edges(rows, columns, seed=0):
    generator = np.random.default_rng(seed)
    return scipy.sparse.csr_array(generator.random((rows, columns))
                                  * (generator.random((rows, columns)) < 0.5))


def sample(found=PLAIN, adjacency=None, **changes):
    """A sample of the graph of ``data``; or, given matrices, of 9 vertices, 4 of them targets."""
    given, features, labels, splits = data()
    if isinstance(adjacency, list):
        features, labels, splits = np.ones((9, 12)), np.arange(4) % 3, np.full(4, TRAIN)
    elif adjacency is None:
        adjacency = given
    arguments = {"adjacency": adjacency, "features": features, "labels": labels, "splits": splits,
                 **changes}
    return Sample.of(found, Recipe(), **arguments)


def test_the_whole_graph():
    adjacency, features, labels, splits = data()
    found = sample()
    assert found.rows == (40, 40, 40) and found.square and found.root_weight == 0
    assert found.edges[0] is found.edges[1]
    np.testing.assert_allclose(found.edges[0].todense() * 2.0**found.edge_exponent,
                               adjacency.todense(), atol=2.0**(found.edge_exponent - 1))
    assert (abs(found.edges[0].data) < 1 << 15).all() and found.edges[0].data.max() >= 1 << 14
    assert np.array_equal(found.features.values.todense() * 2.0**found.features.exponent,
                          features.todense())
    assert np.array_equal(found.labels, labels) and np.array_equal(found.splits, splits)
    assert (found.loss_weights == LOSS_WEIGHT_ONE).all() and found.loss_unit == 1


def test_layers_of_fewer_and_fewer_vertices():
    matrices = [edges(6, 9), edges(4, 6, seed=1)]
    found = sample(adjacency=matrices)
    assert found.rows == (9, 6, 4) and not found.square
    for rounded, matrix in zip(found.edges, matrices, strict=True):
        np.testing.assert_allclose(rounded.todense() * 2.0**found.edge_exponent, matrix.todense(),
                                   atol=2.0**(found.edge_exponent - 1))


def test_features_without_common_factor():
    values, exponent = Mantissas.of_features(np.array([[0.75, -6.0]]), 16)
    assert values.tolist() == [[3, -24]] and exponent == -2


def test_mantissas_are_taken_as_they_are():
    features = Mantissas(np.full((9, 12), 5), -3)
    assert sample(adjacency=[edges(6, 9), edges(4, 6)], features=features).features is features


def test_loss_weights():
    found = sample(adjacency=[edges(6, 9), edges(4, 6)], loss_weights=[1.0, 0.5, 2.0, 0.0],
                   loss_unit=4.0)
    assert found.loss_unit == 4
    np.testing.assert_allclose(found.loss_weights * 4.0 / LOSS_WEIGHT_ONE, [1, 0.5, 2, 0])


ROOTS = Network(layers=(Layer(features_in=12, features_out=12, root=ROOT_IDENTITY),
                        Layer(features_in=12, features_out=3)))


@pytest.mark.parametrize("largest", [0.01, 0.9, 1.0, 100.0, 32767.0])
def test_one_as_an_edge_weight(largest):
    """It is exact, however small the others are."""
    adjacency = edges(40, 40)
    adjacency.data *= largest / adjacency.data.max()
    found = sample(ROOTS, adjacency)
    assert found.root_weight * 2.0**found.edge_exponent == 1
    assert found.root_weight < 1 << 15
    assert abs(found.edges[0].data).max() < 1 << 15


def test_edges_of_added_rows_count():
    """A finer exponent asks for more edges, of rows that are added, too: as many as vertices."""
    differ = 0
    for seed in range(30):
        generator = np.random.default_rng(seed)
        weights = np.minimum(np.exp(2 * generator.normal(size=(40, 40))), 100)
        adjacency = scipy.sparse.csr_array(weights * (generator.random((40, 40)) < 0.1))
        _, features, labels, splits = data()
        found = Sample.of(ROOTS, Recipe(element_width=8), adjacency=adjacency, features=features,
                          labels=labels, splits=splits)
        rows = np.repeat(np.arange(40), np.diff(adjacency.indptr))
        with_loops, without = (quantized_edge_weights(adjacency.data, rows, 8, -6, loops).exponent
                               for loops in (40, 0))
        assert found.edge_exponent == with_loops
        differ += with_loops != without
    assert differ


def test_edges_too_large_beside_one():
    adjacency = edges(40, 40)
    adjacency.data *= 40_000 / adjacency.data.max()
    with pytest.raises(ValueError, match=r"reach 40000\.0, but .* must be below 32768"):
        sample(ROOTS, adjacency)
    assert sample(PLAIN, adjacency).edge_exponent > 0


MIXED = Network(layers=(Layer(features_in=12, features_out=8),
                        Layer(features_in=8, features_out=3, order=LINEAR)))
JUMPING = Network(layers=(Layer(features_in=12, features_out=3), Layer(
    features_in=3, features_out=3, order=LINEAR)), jumping=(1,))


def test_jumping_knowledge_takes_the_whole_graph():
    assert sample(JUMPING).rows == (40, 40, 40)


def test_a_linear_layer_keeps_its_vertices():
    assert sample(MIXED, adjacency=[edges(4, 9), edges(4, 4)]).rows == (9, 4, 4)
    with pytest.raises(ValueError, match=r"layer 2 must have shape \(6, 6\), not \(4, 6\)"):
        sample(MIXED, adjacency=[edges(6, 9), edges(4, 6)])


@pytest.mark.parametrize(("found", "changes", "message"), [
    (PLAIN, {"features": np.ones((39, 12))},
     r"features must have shape \(40, 12\), not \(39, 12\)"),
    (PLAIN, {"features": np.ones((40, 11))},
     r"features must have shape \(40, 12\), not \(40, 11\)"),
    (PLAIN, {"splits": np.full(39, TRAIN)}, r"splits must have shape \(40,\), not \(39,\)"),
    (PLAIN, {"adjacency": edges(39, 40)}, r"adjacency must have shape \(40, 40\), not \(39, 40\)"),
    (PLAIN, {"splits": np.full(40, Split.TEST)}, r"none is in Split\.TRAIN"),
])
def test_refusals(found, changes, message):
    with pytest.raises(ValueError, match=message):
        sample(found, **changes)


@pytest.mark.parametrize(("found", "shapes", "message"), [
    (PLAIN, [(6, 9)], "must be 2 matrices of edges, one for each layer, not 1"),
    (PLAIN, [(6, 9), (4, 6), (4, 4)], "must be 2 matrices of edges, one for each layer, not 3"),
    (PLAIN, [(6, 9), (4, 5)], r"layer 2 must have shape \(4, 6\), not \(4, 5\)"),
    (PLAIN, [(6, 9), (3, 6)], r"layer 2 must have shape \(4, 6\), not \(3, 6\)"),
    (PLAIN, [(10, 9), (4, 10)], r"layer 1 must have shape \(9, 9\), not \(10, 9\)"),
    (JUMPING, [(4, 9), (4, 4)], "all layers must have the same vertices"),
])
def test_layers_that_do_not_fit(found, shapes, message):
    with pytest.raises(ValueError, match=message):
        sample(found, adjacency=[edges(*shape) for shape in shapes])
