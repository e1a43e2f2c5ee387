# SPDX-License-Identifier: BSD-2-Clause
"""Networks: layers that fit, their weights, and initial parameters."""

import math

import numpy as np
import pytest

from hypercast.reference.dropout import Dropout
from hypercast.reference.exponent_entries import exponent_entry
from hypercast.reference.initial_parameters import initial_parameters
from hypercast.reference.network import (
    AGGREGATE_FIRST,
    COMBINE_FIRST,
    LINEAR,
    ROOT_IDENTITY,
    ROOT_WEIGHTS,
    Layer,
    Network,
)
from hypercast.reference.tensor import Kind, Tensor


def test_network_of_widths():
    network = Network.of_widths((10, 4, 3), dropout=0.5)
    assert (network.features, network.classes) == (10, 3)
    assert network.layers[1] == Layer(features_in=4, features_out=3, dropout=0.5)
    assert [dropout.exponent for dropout in network.dropouts] == [1, 1]


def test_layers_must_fit():
    layers = Layer(features_in=10, features_out=4), Layer(features_in=5, features_out=3)
    with pytest.raises(ValueError, match="layer 1 has 4 outputs, but layer 2 has 5 inputs"):
        Network(layers=layers)


def test_network_needs_layers():
    with pytest.raises(ValueError, match="at least one layer"):
        Network(layers=())


def test_first_layer_cannot_aggregate_dropped_features():
    with pytest.raises(ValueError, match=r"layer 1 cannot aggregate first with dropout 0\.5"):
        Network.of_widths((10, 4, 3), dropout=0.5, orders=AGGREGATE_FIRST)


@pytest.mark.parametrize(("change", "message"), [
    ({"features_in": 0}, "features_in must be at least 1, not 0"),
    ({"features_out": -1}, "features_out must be at least 1, not -1"),
    ({"order": "both"}, "not 'both'"),
    ({"dropout": 1.0}, r"not 1\.0"),
    ({"order": LINEAR, "dropout": 0.3}, r"linear layer must be 0, 0\.5, 0\.75 or .* not 0\.3"),
    ({"root": "all"}, "root must be weights, identity, initial or None, not 'all'"),
    ({"root": ROOT_WEIGHTS, "order": AGGREGATE_FIRST}, "must be combine_first, not aggregate_f"),
    ({"root": ROOT_WEIGHTS, "order": LINEAR}, "must be combine_first, not linear"),
    ({"root": ROOT_IDENTITY, "features_in": 3}, "as many inputs as outputs, not 3 and 2"),
])
def test_layer_out_of_range(change, message):
    with pytest.raises(ValueError, match=message):
        Layer(**{"features_in": 2, "features_out": 2, **change})


def jumping(found, *, last=LINEAR, features=11, dropouts=(0.5, 0.5)):
    """Three layers, of 4, 4 and 3 outputs, and one that takes those of some."""
    shapes = [(7, 4, 0.0), (4, 4, dropouts[0]), (4, 3, dropouts[1])]
    layers = [Layer(features_in=features_in, features_out=features_out, dropout=dropout)
              for features_in, features_out, dropout in shapes]
    layers.append(Layer(features_in=features, features_out=2, order=last, dropout=0.5))
    return Network(layers=tuple(layers), jumping=found)


def test_jumping():
    network = jumping((1, 2, 3))
    assert network.weights(4) == (("W4.1", 1, (4, 2)), ("W4.2", 2, (4, 2)), ("W4.3", 3, (3, 2)))
    assert network.weights(2) == (("W2", 1, (4, 4)),)
    assert jumping((1, 3), features=7).weights(4) == (("W4.1", 1, (4, 2)), ("W4.3", 3, (3, 2)))


@pytest.mark.parametrize(("found", "change", "message"), [
    ((1, 2), {"features": 8}, r"ascending order, the last of them 3, not \(1, 2\)"),
    ((2, 1, 3), {}, "ascending order"),
    ((0, 3), {}, "ascending order"),
    ((1, 1, 3), {"features": 11}, "ascending order"),
    ((1, 2, 3), {"last": COMBINE_FIRST}, r"last layer must be linear .* not combine_first"),
    ((1, 2, 3), {"features": 10}, r"have 11 outputs, but the last layer has 10 inputs"),
    ((1, 2, 3), {"dropouts": (0.5, 0.3)}, r"must have the same dropout, not 0\.3, 0\.5"),
])
def test_jumping_refusals(found, change, message):
    with pytest.raises(ValueError, match=message):
        jumping(found, **change)


@pytest.mark.parametrize(("root", "order", "orders"), [
    (None, COMBINE_FIRST, (COMBINE_FIRST, AGGREGATE_FIRST)),
    (None, AGGREGATE_FIRST, (COMBINE_FIRST, AGGREGATE_FIRST)),
    (None, LINEAR, (LINEAR,)), (ROOT_WEIGHTS, COMBINE_FIRST, (COMBINE_FIRST,)),
])
def test_orders_that_a_layer_can_have(root, order, orders):
    assert Layer(features_in=2, features_out=2, root=root, order=order).orders == orders


def test_ordered():
    """All else stays."""
    network = jumping((1, 3), features=7)
    orders = AGGREGATE_FIRST, COMBINE_FIRST, AGGREGATE_FIRST, LINEAR
    found = network.with_orders(orders)
    assert tuple(layer.order for layer in found.layers) == orders
    assert found.with_orders(layer.order for layer in network.layers) == network


def test_weights_of_roots():
    shape = {"features_in": 3, "features_out": 3}
    network = Network(layers=tuple(
        Layer(**shape, root=root) for root in (ROOT_WEIGHTS, ROOT_IDENTITY)))
    names = [weight.name for number in (1, 2) for weight in network.weights(number)]
    assert names == ["W1", "R1", "W2", "I2"]
    assert [weight.name for weight in network.inputs] == ["W1", "R1"]
    parameters = initial_parameters(network, seed=1)
    assert list(parameters) == ["W1", "R1", "b1", "W2", "I2", "b2"]
    assert np.array_equal(parameters["I2"], np.eye(3))
    assert not np.array_equal(parameters["W1"], parameters["R1"])


def branched(*sources, jumping, root=None, dropouts=(0.5,) * 9):
    """A first layer, layers that read these, and one that takes the outputs of some."""
    layers = [Layer(features_in=4, features_out=4, source=source, dropout=dropout,
                    root=root if source == 1 else None)
              for source, dropout in zip((None, *sources), dropouts, strict=False)]
    return Network(jumping=jumping, layers=(*layers, Layer(
        features_in=4 * len(jumping), features_out=2, order=LINEAR, dropout=0.5)))


def test_branches():
    """Two branches, the second of two layers; the last layer takes the first one's outputs, too."""
    network = branched(1, 1, None, jumping=(1, 2, 4))
    assert [network.weights(number)[0].source for number in (1, 2, 3, 4)] == [0, 1, 1, 3]
    assert [network.readers(number) for number in range(6)] == [
        (1,), (2, 3, 5), (5,), (4,), (5,), ()]
    assert network.branches
    assert not jumping((1, 3), features=7).branches
    assert [network.path(number) for number in (1, 2, 3, 4, 5)] == [
        (1, 2, 5), (1, 2, 5), (1, 3, 4, 5), (1, 3, 4, 5), (1, 3, 4, 5)]


def test_summands_of_branches_have_an_entry_for_what_they_are_of():
    network = branched(1, 1, None, jumping=(1, 2, 4))
    entries = [network.exponent_entry(Tensor.parse(name))
               for name in ("dM2", "dS2", "dU3", "dC1", "dM4")]
    assert entries == ["dM.1"] * 4 + ["dM.3"]
    assert [network.exponent_entry(entry) for entry in entries] == entries


@pytest.mark.parametrize(("sources", "change", "message"), [
    ((2,), {"jumping": (2,)}, "layer 2 must read the input features, as layer 0, or one of the "
     "layers 1 to 1, not layer 2"),
    ((-1,), {"jumping": (2,)}, "one of the layers 1 to 1, not layer -1"),
    ((0,), {"jumping": (2,)}, "no layer reads the outputs of layer 1; let the last"),
    ((0,), {"jumping": (1, 2), "dropouts": (0.0, 0.5)},
     r"layers 1, 2 read the input features and must have the same dropout, not 0\.0, 0\.5"),
    ((1, 1), {"jumping": (3,)}, "no layer reads the outputs of layer 2; let the last"),
    ((1, 1), {"jumping": (2, 3), "dropouts": (0.0, 0.5, 0.75)},
     r"layers 2, 3 read the outputs of layer 1 and must have the same dropout, not 0\.5, 0\.75"),
    ((1, 1), {"jumping": (2, 3), "dropouts": (0.0, 0.5, 0.5, 0.5)}, None),
    ((1, 1, None), {"jumping": (2, 3)}, "ascending order, the last of them 4"),
])
def test_branches_that_are_refused(sources, change, message):
    if message is None:
        branched(*sources, **change)
        return
    with pytest.raises(ValueError, match=message):
        branched(*sources, **change)


def test_branches_from_the_input():
    """Layers 1, 2 and 4 read the input features."""
    network = branched(0, None, 0, jumping=(1, 3, 4))
    assert [network.weights(number)[0].source for number in (1, 2, 3, 4)] == [0, 0, 2, 0]
    assert network.readers(0) == (1, 2, 4) and network.branches
    assert [weight.name for weight in network.inputs] == ["W1", "W2", "W4"]
    assert network.path(3) == (2, 3, 5) and network.path(5) == (4, 5)
    assert network.reads_features((3, 4)) and not network.reads_features((3, 5))
    assert not network.aggregates_features(4) and not network.only_aggregates_features
    first = branched(0, jumping=(1, 2), dropouts=(0.0, 0.0)).with_orders(
        (AGGREGATE_FIRST, COMBINE_FIRST, LINEAR))
    assert [first.aggregates_features(number) for number in (1, 2, 3)] == [True, False, False]
    assert first.feature_orders == (AGGREGATE_FIRST, COMBINE_FIRST)
    assert not first.only_aggregates_features
    chain = Network.of_widths((4, 4, 4), orders=AGGREGATE_FIRST)
    assert chain.only_aggregates_features and not chain.aggregates_features(2)


def test_sources_that_are_refused():
    layer = {"features_in": 4, "features_out": 4}
    with pytest.raises(ValueError, match="the input has 4 features, but layer 2 has 3 inputs"):
        Network(jumping=(1, 2), layers=(
            Layer(**layer), Layer(features_in=3, features_out=4, source=0),
            Layer(features_in=8, features_out=2, order=LINEAR)))
    with pytest.raises(ValueError, match=r"layer 2 cannot aggregate first with dropout 0\.5"):
        Network(jumping=(1, 2), layers=(
            Layer(**layer, dropout=0.5),
            Layer(**layer, dropout=0.5, source=0, order=AGGREGATE_FIRST),
            Layer(features_in=8, features_out=2, order=LINEAR)))
    with pytest.raises(ValueError, match="layer 1 reads the input features, and not layer 1"):
        Network(layers=(Layer(**layer, source=1),))
    with pytest.raises(ValueError, match=r"takes the outputs of layers \(1,\), and not of layer 1"):
        Network(jumping=(1,), layers=(Layer(**layer), Layer(**layer, order=LINEAR, source=1)))
    with pytest.raises(ValueError, match="leave branches or the initial residual out"):
        Network(layers=(Layer(**layer), Layer(**layer, source=1),
                        Layer(**layer, root="initial", alpha=0.1)))
    with pytest.raises(ValueError, match="layer 1 has 4 outputs, but layer 3 has 3 inputs"):
        Network(jumping=(2, 3), layers=(
            Layer(**layer), Layer(**layer), Layer(features_in=3, features_out=4, source=1),
            Layer(features_in=8, features_out=2, order=LINEAR)))


def test_initial_parameters_are_glorot_uniform():
    parameters = initial_parameters(Network.of_widths((50, 30, 4)), seed=1)
    assert {name: value.shape for name, value in parameters.items()} == {
        "W1": (50, 30), "b1": (30,), "W2": (30, 4), "b2": (4,)}
    limit = math.sqrt(6 / 80)
    assert 0.95 * limit < np.abs(parameters["W1"]).max() <= limit
    # 1500 draws of variance limit**2 / 3: five standard deviations of the mean.
    assert abs(parameters["W1"].mean()) < 5 * limit / math.sqrt(3 * 1500)
    assert not parameters["b1"].any()


def test_the_dropout_of_each_layer_has_its_own_key():
    keys = [dropout.key for dropout in Network.of_widths((4, 4, 4), dropout=0.5).dropouts]
    assert keys == [Dropout.from_rate(0.5, number).key for number in (1, 2)]


def test_slots_are_those_of_the_kind_of_network():
    plain = Network.of_widths((4, 4, 4))
    found = jumping((1, 3), features=7)
    hidden = Tensor(Kind.HIDDEN, 1)
    assert [network.exponent_entry(hidden) for network in (plain, found)] == [
        exponent_entry(hidden, jumping=whether) for whether in (False, True)]


def test_orders_of_each_layer():
    orders = COMBINE_FIRST, AGGREGATE_FIRST
    assert tuple(layer.order for layer in Network.of_widths((4, 3, 2), orders=orders).layers) == \
        orders
    with pytest.raises(ValueError):
        Network.of_widths((4, 3, 2), orders=orders[:1])
