import math

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from hypercast.reference.network import (
    AGGREGATE_FIRST,
    COMBINE_FIRST,
    LINEAR,
    ROOT_IDENTITY,
    ROOT_WEIGHTS,
    Dropout,
    Layer,
    Network,
    initial_parameters,
)
from hypercast.reference.recipe import Recipe
from hypercast.rtl.isa import MASTER_EXPONENT

# --- Dropout ------------------------------------------------------------------------------------


@given(st.integers(0, 65535))
def test_dropout_scale_is_the_reciprocal_of_what_is_kept(threshold):
    dropout = Dropout.from_rate(threshold / 65536, 1)
    assert dropout.threshold == threshold
    assert dropout.multiplier == 0 or 32768 < dropout.multiplier < 65536
    assert dropout.scale == pytest.approx(65536 / (65536 - threshold), rel=2**-16)


@pytest.mark.parametrize(("rate", "exponent"), [(0, 0), (0.5, 1), (0.75, 2)])
def test_dropout_scale_is_exact_for_powers_of_two(rate, exponent):
    dropout = Dropout.from_rate(rate, 1)
    assert (dropout.exponent, dropout.multiplier) == (exponent, 0)


def test_dropout_applies_the_same_to_dense_and_sparse():
    dropout = Dropout.from_rate(0.3, 2)
    dense = np.arange(1, 1 + 40 * 30).reshape(40, 30)
    sparse = dropout.apply(scipy.sparse.csr_array(dense), 5)
    kept = dropout.apply(dense, 5)
    assert np.array_equal(sparse.todense(), kept)
    assert np.isin(kept, (0, *dense.ravel())).all()
    # 1200 Bernoulli trials: five standard deviations.
    assert abs(np.mean(kept == 0) - 0.3) < 5 * math.sqrt(0.3 * 0.7 / 1200)
    assert not np.array_equal(kept, dropout.apply(dense, 6))
    assert not np.array_equal(kept, Dropout.from_rate(0.3, 1).apply(dense, 5))


@pytest.mark.parametrize("rate", [-0.1, 1.0, 0.999999])
def test_dropout_out_of_range(rate):
    with pytest.raises(ValueError, match=f"below 1, not {rate}"):
        Dropout.from_rate(rate, 1)


# --- Network ------------------------------------------------------------------------------------


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
    ({"root": "all"}, "root must be weights, identity or None, not 'all'"),
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
    found = network.ordered(orders)
    assert tuple(layer.order for layer in found.layers) == orders
    assert found.ordered(layer.order for layer in network.layers) == network


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


def test_initial_parameters_are_glorot_uniform():
    parameters = initial_parameters(Network.of_widths((50, 30, 4)), seed=1)
    assert {name: value.shape for name, value in parameters.items()} == {
        "W1": (50, 30), "b1": (30,), "W2": (30, 4), "b2": (4,)}
    limit = math.sqrt(6 / 80)
    assert 0.95 * limit < np.abs(parameters["W1"]).max() <= limit
    # 1500 draws of variance limit**2 / 3: five standard deviations of the mean.
    assert abs(parameters["W1"].mean()) < 5 * limit / math.sqrt(3 * 1500)
    assert not parameters["b1"].any()


# --- Recipe -------------------------------------------------------------------------------------


def test_last_rate_holds_for_layers_beyond():
    recipe = Recipe(learning_rates=(0.1, 0.2), bias_learning_rates=(0.3, 0.4),
                    weight_decays=(0.5,), schedule=((5, 0.5), (8, 0.1)))
    assert [recipe.learning_rate(name, 0) for name in ("W1", "W2", "W3")] == [0.1, 0.2, 0.2]
    assert [recipe.learning_rate(name, 0) for name in ("b1", "b2", "b3")] == [0.3, 0.4, 0.4]
    assert [recipe.learning_rate("W1", epoch) for epoch in (4, 5, 7, 8, 99)] == pytest.approx(
        [0.1, 0.05, 0.05, 0.01, 0.01])
    assert [recipe.weight_decay(name) for name in ("W1", "W2", "b1")] == [0.5, 0.5, 0.0]


def test_rates_of_other_parameters():
    """Those of roots and of parts of a matrix are their layer's; the identity stays."""
    recipe = Recipe(learning_rates=(0.1, 0.2), weight_decays=(0.3, 0.4))
    for name, rate, decay in (("R1", 0.1, 0.3), ("R2", 0.2, 0.4), ("W2.1", 0.2, 0.4),
                              ("W1.2", 0.1, 0.3), ("I2", 0.0, 0.0)):
        assert (recipe.learning_rate(name, 0), recipe.weight_decay(name)) == (rate, decay)


@given(st.floats(1e-4, 10), st.floats(1e-6, 0.1), st.floats(1e-4, 1), st.integers(-30, -15))
def test_rates_mean_what_the_recipe_says(rate, decay, gain, exponent):
    rates = Recipe(momentum=0.9).rates(rate, decay, gain, exponent)
    assert rates.momentum == round(0.9 * 65536)
    # One unit of the momenta is 2**exponent / gain of the gradient of the mean loss.
    unit = gain * 2.0**exponent
    assert rates.rate < 65536 and 0 <= rates.rate_shift < 64
    assert rates.rate * 2.0**-rates.rate_shift * 2.0**MASTER_EXPONENT == pytest.approx(
        rate * unit, rel=2**-16)
    assert rates.decay < 65536 and 0 <= rates.decay_shift < 64
    assert rates.decay * 2.0**-rates.decay_shift * unit == pytest.approx(
        decay * 2.0**MASTER_EXPONENT, rel=2**-16)


def test_rates_of_nothing_are_zero():
    assert Recipe(momentum=0).rates(0.0, 0.0, 1.0, -20) == (0, 0, 0, 0, 0)


def test_rates_too_large():
    with pytest.raises(ValueError, match="optimiser constant"):
        Recipe().rates(1e9, 0.0, 1.0, -20)


@pytest.mark.parametrize(("change", "message"), [
    ({"epochs": -1}, "epochs must be 1 to 4294967295, not -1"),
    ({"learning_rates": ()}, "learning_rates must be one or more"),
    ({"bias_learning_rates": ()}, "bias_learning_rates must be one or more"),
    ({"weight_decays": (-1.0,)}, r"none negative, not \(-1\.0,\)"),
    ({"schedule": ((5, 1.0), (3, 1.0))}, r"order of epochs, each there once, not \[5, 3\]"),
    ({"momentum": 1.0}, r"momentum must be at least 0 and below 1, not 1\.0"),
    ({"optimiser": "rmsprop"}, "optimiser must be one of sgd, adam, not 'rmsprop'"),
    ({"betas": (1.0, 0.999)}, r"betas must be two numbers, .*, not \(1\.0, 0\.999\)"),
    ({"betas": (0.9, 0.99995)}, r"the second 0\.5 to 0\.9999, not \(0\.9, 0\.99995\)"),
    ({"betas": (0.9, 0.4)}, "the second 0.5 to"),
    ({"betas": (0.9,)}, "betas must be two numbers"),
    ({"epsilon": -1e-8}, "epsilon must be finite and not negative, not -1e-08"),
    ({"seed": -1}, "seed must be at least 0, not -1"),
    ({"element_width": 12}, "element_width must be 8 or 16, not 12"),
    ({"headroom": 4}, "headroom must be 0 to 3, not 4"),
    ({"feature_headroom": -5}, "feature_headroom must be -4 to 3, not -5"),
    ({"normalisation": "max"}, "not 'max'"),
    ({"epsilon": math.inf}, "epsilon must be finite and not negative, not inf"),
    ({"gin_epsilon": math.inf}, "gin_epsilon must be finite, not inf"),
])
def test_recipe_out_of_range(change, message):
    with pytest.raises(ValueError, match=message):
        Recipe(**change)
