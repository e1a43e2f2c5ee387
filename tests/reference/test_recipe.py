# SPDX-License-Identifier: BSD-2-Clause
"""Recipes: what is refused, what is not given, and what the constants mean."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.reference.adam import AdamRates
from hypercast.reference.recipe import BINARY_CROSS_ENTROPY, Recipe
from hypercast.reference.tensor import Kind, Tensor
from hypercast.rtl.isa import MASTER_EXPONENT


def tensors(*names):
    return map(Tensor.parse, names)


def test_last_rate_holds_for_layers_beyond():
    recipe = Recipe(learning_rates=(0.1, 0.2), bias_learning_rates=(0.3, 0.4),
                    weight_decays=(0.5,), schedule=((5, 0.5), (8, 0.1)))
    assert [recipe.learning_rate(name, 0) for name in tensors("W1", "W2", "W3")] == [0.1, 0.2, 0.2]
    assert [recipe.learning_rate(name, 0) for name in tensors("b1", "b2", "b3")] == [0.3, 0.4, 0.4]
    weights = Tensor(Kind.WEIGHTS, 1)
    assert [recipe.learning_rate(weights, step) for step in (4, 5, 7, 8, 99)] == pytest.approx(
        [0.1, 0.05, 0.05, 0.01, 0.01])
    assert [recipe.weight_decay(name) for name in tensors("W1", "W2", "b1")] == [0.5, 0.5, 0.0]


def test_rates_of_other_parameters():
    """Roots and parts of a matrix have their layer's rates; the identity stays as it is."""
    recipe = Recipe(learning_rates=(0.1, 0.2), weight_decays=(0.3, 0.4))
    for name, rate, decay in (("R1", 0.1, 0.3), ("R2", 0.2, 0.4), ("W2.1", 0.2, 0.4),
                              ("W1.2", 0.1, 0.3), ("I2", 0.0, 0.0)):
        [tensor] = tensors(name)
        assert (recipe.learning_rate(tensor, 0), recipe.weight_decay(tensor)) == (rate, decay)


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
    ({"epochs": 0}, "epochs must be 1 to 4294967295, not 0"),
    ({"epochs": 1 << 32}, "epochs must be 1 to 4294967295, not 4294967296"),
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
    ({"gradient_headroom": -1}, "gradient_headroom must be 0 to 3, not -1"),
    ({"gradient_headroom": 4}, "gradient_headroom must be 0 to 3, not 4"),
    ({"feature_headroom": -5}, "feature_headroom must be -4 to 3, not -5"),
    ({"normalisation": "max"}, "not 'max'"),
    ({"weight_decays": (0.0, 65536.0)}, "weight_decays must be at most 65535"),
    ({"schedule": ((3, 1.0), (3, 1.0))}, r"each there once, not \[3, 3\]"),
    ({"schedule": ((-1, 1.0),)}, r"factor 1\.0 from epoch -1 on"),
    ({"schedule": ((1, -0.5),)}, r"factor -0\.5 from epoch 1 on"),
    ({"schedule": ((1, math.inf),)}, "factor inf from epoch 1 on"),
    ({"loss": "hinge"}, "not 'hinge'"),
    ({"learning_rates": (0.1, math.inf)}, "learning_rates must be one or more finite"),
    ({"momentum": -0.1}, "momentum must be at least 0"),
    ({"betas": (-0.1, 0.999)}, "betas must be two numbers"),
    ({"betas": (0.9, 0.99, 0.9)}, "betas must be two numbers"),
    ({"headroom": -1}, "headroom must be 0 to 3, not -1"),
    ({"feature_headroom": 4}, "feature_headroom must be -4 to 3, not 4"),
    ({"epsilon": math.inf}, "epsilon must be finite and not negative, not inf"),
    ({"gin_epsilon": math.inf}, "gin_epsilon must be finite, not inf"),
])
def test_recipe_out_of_range(change, message):
    with pytest.raises(ValueError, match=message):
        Recipe(**change)


@pytest.mark.parametrize("change", [
    {"epochs": 1}, {"epochs": (1 << 32) - 1}, {"learning_rates": (0.0,)},
    {"schedule": ((0, 0.0),)}, {"weight_decays": (0.0, 65535.0)},
    {"momentum": 0.0}, {"momentum": 65535 / 65536}, {"betas": (0.0, 0.5)},
    {"betas": (65535 / 65536, 0.9999)}, {"epsilon": 0.0}, {"seed": 0}, {"headroom": 0},
    {"headroom": 3}, {"gradient_headroom": 0}, {"gradient_headroom": 3},
    {"feature_headroom": -4}, {"feature_headroom": 3}])
def test_ends_of_ranges(change):
    recipe = Recipe(**change)
    assert {name: getattr(recipe, name) for name in change} == change


@pytest.mark.parametrize(("change", "headroom", "features", "gradients"), [
    ({}, 1, 1, 3), ({"element_width": 8}, 0, 0, 0), ({"headroom": 2}, 2, 2, 2),
    ({"element_width": 8, "normalisation": "sum"}, 0, -2, 0), ({"normalisation": "sum"}, 1, 1, 3),
    ({"headroom": 0, "feature_headroom": 3}, 0, 3, 0), ({"gradient_headroom": 0}, 1, 1, 0),
    ({"element_width": 8, "gradient_headroom": 2}, 0, 0, 2)])
def test_headroom(change, headroom, features, gradients):
    """Features, products and logits have their own, and so have gradients of features."""
    recipe = Recipe(**change)
    assert {recipe.headroom_of(name) for name in tensors("H1", "M1", "S2", "T1", "Z2")} == {
        features}
    assert {recipe.headroom_of(name) for name in tensors("W1", "b2")} == {headroom}
    assert {recipe.headroom_of(name) for name in tensors("dT1", "dZ2", "dS2", "dM1")} == {
        gradients}


@pytest.mark.parametrize(("change", "rate"), [
    ({}, 0.05), ({"optimiser": "adam"}, 0.01), ({"normalisation": "sum"}, 0.05 / 16),
    ({"loss": BINARY_CROSS_ENTROPY}, 0.8),
    ({"loss": BINARY_CROSS_ENTROPY, "normalisation": "sum"}, 0.05),
    ({"optimiser": "adam", "loss": BINARY_CROSS_ENTROPY, "normalisation": "sum"}, 0.01)])
def test_rates_that_are_not_given(change, rate):
    recipe = Recipe(**change)
    found = [recipe.learning_rate(name, 0) for name in tensors("W1", "b2")]
    assert found == pytest.approx([rate, rate])
    explicit = recipe.explicit()
    assert explicit.learning_rates == explicit.bias_learning_rates == (pytest.approx(rate),)
    given = Recipe(**change, learning_rates=(3.0,), bias_learning_rates=(4.0,))
    assert given.explicit() == given


def test_defaults():
    """The defaults are those that the tutorial shows."""
    recipe = Recipe()
    assert (recipe.epochs, recipe.seed, recipe.element_width) == (200, 0, 16)
    assert (recipe.weight_decays, recipe.momentum, recipe.betas) == ((5e-3, 0.0), 0.9, (0.9, 0.999))


def test_kept_momentum():
    assert Recipe(momentum=0.7).kept_momentum == 0.7
    assert Recipe(momentum=0.7, betas=(0.8, 0.99), optimiser="adam").kept_momentum == 0.8


def test_momenta_in_other_units():
    """While they are still in units of half, half of them is kept, and all else is the same."""
    recipe = Recipe(momentum=0.5)
    plain, raised = (recipe.rates(0.1, 0.01, 0.5, -20, raised=raised) for raised in (False, True))
    assert (plain.momentum, raised.momentum) == (32768, 16384)
    assert plain[1:] == raised[1:]


def test_rates_of_adam():
    recipe = Recipe(optimiser="adam", betas=(0.8, 0.99), epsilon=1e-6)
    for raised in (False, True):
        assert recipe.rates(0.1, 0.01, 0.5, -20, 3, raised=raised) == AdamRates.of_step(
            3, betas=(0.8, 0.99), epsilon=1e-6, learning_rate=0.1, unit=0.5 * 2.0**-20,
            decay=0.01 / 0.5 * 2.0**(MASTER_EXPONENT + 20), master_unit=2.0**MASTER_EXPONENT,
            raised=raised)
