# SPDX-License-Identifier: BSD-2-Clause
"""Models by name: their structure, and their outputs by formulas of their own, vertex by vertex."""

import numpy as np
import pytest

from hypercast.host.graphs.graph import Graph
from hypercast.reference.float_gnn import FloatGnn
from hypercast.reference.models import MODELS, model_network
from hypercast.reference.network import LINEAR, ROOT_IDENTITY, ROOT_WEIGHTS
from hypercast.reference.recipe import Recipe

#: Vertex 4 has no edges, vertex 3 only sends; one edge has a loop's source and target.
EDGES = [[0, 1], [1, 0], [0, 2], [3, 2], [1, 2], [2, 2]]
NEIGHBOURS = {target: [source for source, other in EDGES if other == target]
              for target in range(5)}


def trained(model, hidden, *, epsilon=0.0, **additions):
    """A float model with biases that are not zero, and its logits."""
    generator = np.random.default_rng(1)
    graph = Graph.from_edges(EDGES, generator.normal(size=(5, 4)), [0, 1, 2, 0, 1],
                             train=range(5), directed=True)
    network = model_network(model, 4, hidden, 3, **additions)
    recipe = Recipe(normalisation=MODELS[model].normalisation, epsilon=epsilon)
    found = FloatGnn(network, recipe, graph.normalise(recipe.normalisation, epsilon),
                     graph.features, graph.labels, graph.splits)
    for name, value in found.parameters.items():
        if name.startswith("b"):
            found.parameters[name] = generator.normal(size=value.shape)
    return found, found.forward(training=False)[-1][1]


def relu(values):
    return np.maximum(values, 0)


def sage(rows, weights, root, bias):
    """What PyTorch Geometric's SAGEConv computes."""
    means = [np.mean([rows[other] for other in NEIGHBOURS[v]] or [0 * rows[v]], axis=0)
             for v in range(5)]
    return np.array([mean @ weights + row @ root + bias
                     for mean, row in zip(means, rows, strict=True)])


def gin(rows, epsilon, *mlp):
    """What its GINConv computes, with two linear layers."""
    first, first_bias, second, second_bias = mlp
    sums = [(1 + epsilon) * rows[v] + sum(rows[other] for other in NEIGHBOURS[v])
            for v in range(5)]
    return np.array([relu(total @ first + first_bias) @ second + second_bias for total in sums])


def test_sage():
    model, logits = trained("sage", (6,))
    p = model.parameters
    hidden = relu(sage(model.features, p["W1"], p["R1"], p["b1"]))
    np.testing.assert_allclose(logits, sage(hidden, p["W2"], p["R2"], p["b2"]))


@pytest.mark.parametrize("epsilon", [0.0, 0.25])
def test_gin(epsilon):
    model, logits = trained("gin", (6,), epsilon=epsilon)
    p = model.parameters
    hidden = relu(gin(model.features, epsilon, p["W1"], p["b1"], p["W2"], p["b2"]))
    np.testing.assert_allclose(logits, gin(hidden, epsilon, p["W3"], p["b3"], p["W4"], p["b4"]))


def test_residual():
    model, logits = trained("gcn", (6, 6), residual=True)
    p, edges = model.parameters, model.adjacency
    first = relu(edges @ model.features @ p["W1"] + p["b1"])
    second = relu(edges @ first @ p["W2"] + p["b2"] + first)
    np.testing.assert_allclose(logits, edges @ second @ p["W3"] + p["b3"])


def test_jumping():
    model, logits = trained("gcn", (6, 5), jumping=True)
    p, edges = model.parameters, model.adjacency
    first = relu(edges @ model.features @ p["W1"] + p["b1"])
    second = relu(edges @ first @ p["W2"] + p["b2"])
    weights = np.concatenate([p["W3.1"], p["W3.2"]])
    np.testing.assert_allclose(logits, np.hstack([first, second]) @ weights + p["b3"])


@pytest.mark.parametrize("count", [1, 4])
def test_gcnii(count):
    """As the paper has it, from the weights within the parameters."""
    alpha, theta = 0.2, 0.7
    model, logits = trained("gcnii", (6,) * count, alpha=alpha, theta=theta)
    p, edges = model.parameters, model.adjacency
    first = rows = relu(model.features @ p["W1"] + p["b1"])
    for layer in range(1, count + 1):
        beta = np.log(theta / layer + 1)
        names = f"W{layer + 1}", f"R{layer + 1}"
        weights, initial = (
            (p[name] / share - (1 - beta) * np.eye(6)) / beta
            for name, share in zip(names, (1 - alpha, alpha), strict=True))
        assert max(abs(weights).max(), abs(initial).max()) <= np.sqrt(6 / 12)
        rows = relu((1 - alpha) * (edges @ rows) @ ((1 - beta) * np.eye(6) + beta * weights)
                    + alpha * first @ ((1 - beta) * np.eye(6) + beta * initial)
                    + p[f"b{layer + 1}"])
    np.testing.assert_allclose(logits, rows @ p[f"W{count + 2}"] + p[f"b{count + 2}"])


def test_mixhop():
    """Branches of no, one and two convolutions."""
    model, logits = trained("mixhop", (6, 3, 4, 5))
    p, edges = model.parameters, model.adjacency
    first = relu(model.features @ p["W1"] + p["b1"])
    branches = [relu(first @ p["W2"] + p["b2"]), relu(edges @ first @ p["W3"] + p["b3"])]
    hop = relu(edges @ first @ p["W4"] + p["b4"])
    branches.append(relu(edges @ hop @ p["W5"] + p["b5"]))
    weights = np.concatenate([p["W6.2"], p["W6.3"], p["W6.5"]])
    np.testing.assert_allclose(logits, np.hstack(branches) @ weights + p["b6"])


def test_sign():
    """Branches of no, one and two convolutions, which read the input features."""
    model, logits = trained("sign", (3, 4, 5))
    p, edges = model.parameters, model.adjacency
    branches = [relu(model.features @ p["W1"] + p["b1"]),
                relu(edges @ model.features @ p["W2"] + p["b2"])]
    hop = relu(edges @ model.features @ p["W3"] + p["b3"])
    branches.append(relu(edges @ hop @ p["W4"] + p["b4"]))
    weights = np.concatenate([p["W5.1"], p["W5.2"], p["W5.4"]])
    np.testing.assert_allclose(logits, np.hstack(branches) @ weights + p["b5"])


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_weights_of_gcnii_have_the_learning_rate(optimiser):
    """A step changes the weights within the parameters as if they were the parameters."""
    generator = np.random.default_rng(2)
    graph = Graph.from_edges(EDGES, generator.normal(size=(5, 4)), [0, 1, 2, 0, 1],
                             train=range(5), directed=True)
    network = model_network("gcnii", 4, (6, 6), 3, alpha=0.2, theta=0.7)
    recipe = Recipe(optimiser=optimiser, learning_rates=(0.01,), weight_decays=(0.0,),
                    epsilon=1e-20)
    model = FloatGnn(network, recipe, graph.normalise("symmetric"), graph.features, graph.labels,
                     graph.splits)
    before = dict(model.parameters)
    gradients = model.gradients(model.forward(training=True))
    model.train_step()
    for layer, alpha_share in ((2, 0.8), (3, 0.8)):
        beta = np.log(0.7 / (layer - 1) + 1)
        for name, share in ((f"W{layer}", alpha_share * beta),
                            (f"R{layer}", (1 - alpha_share) * beta)):
            change = (model.parameters[name] - before[name]) / share
            gradient = gradients[name] * share  # of the weights within
            expected = gradient if optimiser == "sgd" else np.sign(gradient)
            np.testing.assert_allclose(change, -0.01 * expected, rtol=1e-6, atol=1e-12)


def shapes(network):
    return [(layer.features_in, layer.features_out) for layer in network.layers]


@pytest.mark.parametrize(("model", "jumping", "expected"), [
    ("gcn", False, [(9, 6), (6, 5), (5, 3)]),
    ("sage", True, [(9, 6), (6, 5), (11, 3)]),
    ("gin", False, [(9, 6), (6, 6), (6, 5), (5, 5), (5, 3), (3, 3)]),
    ("gin", True, [(9, 6), (6, 6), (6, 5), (5, 5), (11, 3)]),
])
def test_widths(model, jumping, expected):
    network = model_network(model, 9, (6, 5), 3, jumping=jumping)
    assert shapes(network) == expected
    assert (network.features, network.classes) == (9, 3)


def test_a_single_perceptron_is_as_wide_as_the_logits():
    assert shapes(model_network("gin", 900, (), 3)) == [(900, 3), (3, 3)]


def test_kinds_of_layers():
    network = model_network("gin", 9, (6, 5), 3, dropout=0.5, jumping=True)
    assert [layer.order == LINEAR for layer in network.layers] == [False, True, False, True, True]
    assert [layer.dropout for layer in network.layers] == [0.5, 0.0, 0.5, 0.0, 0.5]
    assert network.jumping == (2, 4)
    assert {layer.root for layer in model_network("sage", 9, (6,), 3).layers} == {ROOT_WEIGHTS}


def test_residual_connections_are_where_widths_are_equal():
    """Hidden convolutions have them: neither the first nor the last of a network."""
    network = model_network("gcn", 6, (6, 6, 5, 5, 5), 5, residual=True)
    roots = [layer.root for layer in network.layers]
    assert roots == [None, ROOT_IDENTITY, None, ROOT_IDENTITY, ROOT_IDENTITY, None]
    network = model_network("gcn", 6, (6, 6), 5, residual=True, jumping=True)
    assert [layer.root for layer in network.layers] == [None, ROOT_IDENTITY, None]
    network = model_network("gin", 6, (6, 6), 5, residual=True)
    assert [number for number, layer in enumerate(network.layers, 1) if layer.root] == [3]


@pytest.mark.parametrize(("model", "hidden", "additions", "message"), [
    ("gat", (4,), {}, "model must be one of gcn, sage, gin, gcnii, mixhop, sign, not 'gat'"),
    ("gcnii", (4, 5), {}, r"widths that are all the same, not \[4, 5\]"),
    ("gcnii", (), {}, r"widths that are all the same, not \[\]"),
    ("gcnii", (4,), {"alpha": 0.0}, "alpha must be above 0 and below 1, not 0.0"),
    ("gcnii", (4,), {"alpha": 1.0}, "alpha must be above 0 and below 1, not 1.0"),
    ("gcnii", (4,), {"alpha": float("nan")}, "alpha must be above 0 and below 1, not nan"),
    ("gcnii", (4,), {"theta": 0.0}, "theta must be above 0 and at most 1.718, not 0.0"),
    ("gcnii", (4,), {"theta": 1.72}, "theta must be above 0 and at most 1.718, not 1.72"),
    ("gcnii", (4, 4), {"residual": True}, "has an initial residual; leave residual out"),
    ("gcnii", (4, 4), {"jumping": True}, "has an initial residual; leave jumping out"),
    ("mixhop", (4, 5), {}, r"first layer and branches; give 3 hidden widths or more, not \[4, 5\]"),
    ("mixhop", (4, 5, 5), {"jumping": True}, "MixHop has branches; leave jumping out"),
    ("sign", (4,), {}, r"SIGN has branches; give 2 hidden widths or more, not \[4\]"),
    ("sign", (4, 5), {"residual": True}, "SIGN has branches; leave residual out"),
    ("sage", (4, 4), {"residual": True}, "weights of their own; leave residual out"),
    ("gcn", (4, 5), {"residual": True}, r"widths \[9, 4, 5, 3\]; give neighbouring hidden"),
    ("gcn", (), {"jumping": True}, "jumping knowledge needs at least one hidden width"),
])
def test_refusals(model, hidden, additions, message):
    with pytest.raises(ValueError, match=message):
        model_network(model, 9, hidden, 3, **additions)
