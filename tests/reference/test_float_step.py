# SPDX-License-Identifier: BSD-2-Clause
"""The float64 tensors of a step by name, against the layers of the float model."""

import numpy as np
import pytest
import scipy.sparse

from hypercast.reference.fixed_gnn import FixedGnn
from hypercast.reference.float_gnn import FloatGnn
from hypercast.reference.float_step import float_step
from hypercast.reference.network import AGGREGATE_FIRST, LINEAR
from hypercast.reference.recipe import LOSSES, Recipe
from hypercast.reference.tensor import EDGES, FEATURES, Kind, Tensor
from hypercast.rtl.isa import Split
from tests.reference.random_data import ORDERS, OTHERS, data, labelled, network

NETWORKS = {"combine": network(orders=ORDERS[0]), "aggregate": network(orders=ORDERS[1]),
            "one layer": network((12, 3), 0.3, ORDERS[0][:1]), **OTHERS}
FORMATS = {"dense": np.asarray, "csr": scipy.sparse.csr_array, "csc": scipy.sparse.csc_array,
           "coo": scipy.sparse.coo_matrix}


def steps(net, loss=LOSSES[0], seed=0):
    """A float model whose biases are not zero, its key, its data, and ``float_step``'s tensors."""
    arguments = labelled(data(seed=seed, sparse=False), loss)
    gnn = FloatGnn(net, Recipe(seed=seed, loss=loss), *arguments)
    rng = np.random.default_rng(seed)
    for name, value in gnn.parameters.items():
        gnn.parameters[name] = value + rng.normal(scale=0.3, size=value.shape)
    gnn.step_key = int(rng.integers(1 << 32))
    return gnn, arguments, float_step(net, gnn.parameters, *arguments, gnn.step_key)


@pytest.mark.parametrize("net", NETWORKS.values(), ids=NETWORKS)
@pytest.mark.parametrize("loss", LOSSES)
def test_tensors_are_those_of_the_float_model(net, loss):
    gnn, (adjacency, _, labels, splits), found = steps(net, loss)
    layers = gnn.forward(training=True)
    gradients = gnn.gradients(layers)
    terms = np.count_nonzero(splits == Split.TRAIN) * (1 if labels.ndim == 1 else labels.shape[1])
    last = len(layers)
    np.testing.assert_allclose(found[Tensor(Kind.LOGITS, last)], layers[-1][1], atol=1e-12)
    for number, ((inputs, _), layer) in enumerate(zip(layers, net.layers, strict=True), 1):
        if number > 1:  # hidden features are dropped, but not scaled
            np.testing.assert_allclose(
                found[Tensor(Kind.HIDDEN, number - 1)] * net.output_dropout(number - 1).scale,
                inputs, atol=1e-12)
        outputs = found[Tensor(Kind.GRADIENT, number)]
        np.testing.assert_allclose(
            outputs.sum(axis=0) / terms, gradients[Tensor(Kind.BIAS, number)], atol=1e-12)
        for weight in net.weights(number):
            linear = weight.root or layer.order == LINEAR
            right = outputs if linear else adjacency.T @ outputs
            np.testing.assert_allclose(
                layers[weight.source][0].T @ right / terms, gradients[weight.name], atol=1e-12)


@pytest.mark.parametrize("net", NETWORKS.values(), ids=NETWORKS)
def test_what_is_combined_and_aggregated(net):
    gnn, (adjacency, *_), found = steps(net)
    layers = gnn.forward(training=True)
    for number, layer in enumerate(net.layers, 1):
        neighbours, *root = net.weights(number)
        if layer.order == AGGREGATE_FIRST:
            expected = {Kind.AGGREGATED: adjacency @ layers[neighbours.source][0]}
        elif layer.order == LINEAR:
            expected = {}
        else:
            expected = {
                kind: layers[weight.source][0] @ gnn.parameters[weight.name] for kind, weight in
                zip((Kind.COMBINED, Kind.ROOT), (neighbours, *root), strict=False)}
        for kind, value in expected.items():
            np.testing.assert_allclose(found[Tensor(kind, number)], value, atol=1e-12)


@pytest.mark.parametrize("net", NETWORKS.values(), ids=NETWORKS)
@pytest.mark.parametrize("loss", LOSSES)
def test_names_are_those_of_the_integers(net, loss):
    _, arguments, found = steps(net, loss)
    reference = FixedGnn.of(net, Recipe(loss=loss), *arguments)
    reference.train_step()
    assert found.keys() == {
        name for name in reference.tensors if not name.endswith(".eval")}
    for name, value in found.items():
        assert value.shape == reference.tensors[name].shape, name


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_formats_of_features_and_edges(form):
    gnn, (adjacency, features, *rest), expected = steps(NETWORKS["combine"])
    found = float_step(gnn.network, gnn.parameters, scipy.sparse.coo_matrix(adjacency),
                       form(features), *rest, gnn.step_key)
    for name in expected.keys() - {EDGES, FEATURES}:
        np.testing.assert_allclose(found[name], expected[name], atol=1e-12)
    assert (found[EDGES] != adjacency).nnz == 0 and abs(found[FEATURES] - features).max() == 0
    assert scipy.sparse.issparse(found[FEATURES]) == (form != np.asarray)


@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_of_logits(loss):
    """Gradients are those of the summed cross-entropy, in rows of training vertices only."""
    _, (*_, labels, splits), found = steps(NETWORKS["one layer"], loss)
    logits, gradient = found[Tensor(Kind.LOGITS, 1)], found[Tensor(Kind.GRADIENT, 1)]
    train = splits == Split.TRAIN
    assert not gradient[~train].any() and gradient[train].all()
    if labels.ndim == 1:
        own = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        own[np.arange(len(labels)), labels] -= 1
    else:
        own = 1 / (1 + np.exp(-logits)) - labels
    np.testing.assert_allclose(gradient[train], own[train], atol=1e-12)
