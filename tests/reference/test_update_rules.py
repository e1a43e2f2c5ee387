# SPDX-License-Identifier: BSD-2-Clause
"""The rules of updates, against formulas in float64 that are written out here."""

import math
from dataclasses import replace

import numpy as np
import pytest

from hypercast.reference.initial_model import InitialModel
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, Network
from hypercast.reference.recipe import BINARY_CROSS_ENTROPY, CROSS_ENTROPY, Recipe
from hypercast.reference.tensor import Kind, Tensor
from hypercast.rtl.isa import Split
from tests.reference.random_data import ORDERS, OTHERS, data, labelled, network

MASTER_UNIT = 2.0**-26
#: Constants have mantissas of 16 bits, so they are rounded by that share at most.
ROUNDING = 2.0**-16
#: Adam's are made of its rounded ``beta1`` (2**-17 of one, so 2**-13 of one minus 0.9, say).
ADAM_ROUNDING = 2.0**-13


def dropped(widths, rates, orders):
    """A network with a dropout of its own in every layer."""
    layers = Network.of_widths(widths, orders=orders).layers
    return Network(layers=tuple(
        replace(layer, dropout=rate) for layer, rate in zip(layers, rates, strict=True)))


def rules_of(net, recipe, arguments=None, weights=None):
    arguments = labelled(data(), recipe.loss) if arguments is None else arguments
    return InitialModel.of(net, recipe, *arguments, weights).rules()


def grown(entries, name, bits):
    """The exponent file after ``name`` has grown."""
    exponent, peak = entries[name]
    return {**entries, name: (exponent + bits, peak)}


# --- Gains ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("orders", "gains"), [
    (COMBINE_FIRST, [2, 1, 4, 1, 4 / 3, 1]),
    ((COMBINE_FIRST, AGGREGATE_FIRST, COMBINE_FIRST), [2, 1, 1, 1, 4 / 3, 1])])
def test_gains(orders, gains):
    """What was kept is scaled where weight gradients are not; all are divided by the vertices."""
    found = rules_of(dropped((12, 8, 5, 3), (0.5, 0.75, 0.25), orders), Recipe()).gains
    assert list(found) == ["W1", "b1", "W2", "b2", "W3", "b3"]
    count = np.count_nonzero(data()[-1] == Split.TRAIN)
    np.testing.assert_allclose(list(found.values()), np.array(gains) / count, rtol=ROUNDING)


@pytest.mark.parametrize("order", [COMBINE_FIRST, AGGREGATE_FIRST])
@pytest.mark.parametrize("loss", [CROSS_ENTROPY, BINARY_CROSS_ENTROPY])
def test_gains_of_two_layers(order, loss):
    """The mean over vertices and labels, in units of the largest loss weight, by hand."""
    net = dropped((12, 8, 3), (0.5, 0.75), (COMBINE_FIRST, order))
    found = rules_of(net, Recipe(loss=loss, weight_decays=(0.0,)),
                     weights=np.full(40, 4.0)).gains
    loss_unit = 4  # the power of two that the weights are rounded with
    labels = 3 if loss == BINARY_CROSS_ENTROPY else 1
    mean = loss_unit / (10 * labels)  # ten of forty vertices are trained on
    assert found["b1"] == found["b2"] == pytest.approx(mean)
    assert found["W1"] == pytest.approx(mean / (1 - 0.5))
    assert found["W2"] == pytest.approx(mean if order == AGGREGATE_FIRST else mean / (1 - 0.75))


# --- Rates ----------------------------------------------------------------------------------------


def momentum_unit(rules, name):
    """The real gradient that counts as one in a parameter's momenta."""
    return rules.gains[name] * 2.0 ** rules.momentum_exponents[name]


def real(mantissa, shift):
    return mantissa / 2.0**shift


@pytest.mark.parametrize("step", [0, 4, 9])
def test_rates_of_sgd(step):
    """``v = momentum v + g + decay w``; ``w = w - rate v``, in the units of both."""
    recipe = Recipe(learning_rates=(0.3, 0.05), bias_learning_rates=(0.2,), momentum=0.85,
                    weight_decays=(0.01, 0.003), schedule=((4, 0.5), (7, 0.1)))
    rules = rules_of(network(), recipe)
    factor = {0: 1, 4: 0.5, 9: 0.1}[step]
    learning = {"W1": 0.3, "b1": 0.2, "W2": 0.05, "b2": 0.2}
    decays = {"W1": 0.01, "b1": 0.0, "W2": 0.003, "b2": 0.0}
    for name in rules.gains:
        rates, unit = rules.rates(name, step), momentum_unit(rules, name)
        assert rates.momentum / 2**16 == pytest.approx(0.85, abs=2.0**-17)
        assert real(rates.decay, rates.decay_shift) * unit / MASTER_UNIT == pytest.approx(
            decays[name], rel=ROUNDING)
        assert real(rates.rate, rates.rate_shift) * MASTER_UNIT / unit == pytest.approx(
            learning[name] * factor, rel=ROUNDING)


@pytest.mark.parametrize("step", [0, 1, 20, 5000])
@pytest.mark.parametrize("betas", [(0.9, 0.999), (0.5, 0.9), (0.0, 0.99)])
def test_rates_of_adam(step, betas):
    """Adam's own formulas of sums that are not normalised, ``M = beta1 M + g`` and ``V`` likewise.
    """
    epsilon = 1e-3
    recipe = Recipe(optimiser="adam", learning_rates=(0.02,), bias_learning_rates=(0.01,),
                    weight_decays=(0.004, 0.0), betas=betas, epsilon=epsilon, epochs=6000)
    rules = rules_of(network(), recipe)
    (beta1, beta2), number = betas, step + 1
    first = (1 - beta1) / (1 - beta1**number)  # what makes M the mean of gradients
    second = (1 - beta2) / (1 - beta2**number)
    for name in rules.gains:
        rates, unit = rules.rates(name, step), momentum_unit(rules, name)
        assert rates.momentum / 2**16 == pytest.approx(beta1, abs=2.0**-17)
        assert 1 - real(rates.second_decay, rates.second_decay_shift) == pytest.approx(
            beta2, rel=ROUNDING)
        assert real(rates.decay, rates.decay_shift) * unit / MASTER_UNIT == pytest.approx(
            0.004 if name == "W1" else 0.0, rel=ROUNDING)
        learning = 0.02 if name.startswith("W") else 0.01
        # w - learning * first * M / (sqrt(second * V) + epsilon), with a factor taken out.
        assert real(rates.rate, rates.rate_shift) * 2.0**24 * MASTER_UNIT == pytest.approx(
            learning * first / math.sqrt(second), rel=ADAM_ROUNDING)
        expected = max(epsilon / math.sqrt(second), 64 * unit)  # fewer units count as 64
        assert rates.epsilon * 2.0 ** (rates.epsilon_exponent - 11) * unit == pytest.approx(
            expected, rel=ADAM_ROUNDING)


def test_rates_do_not_depend_on_units():
    """Momenta in units of twice as much: twice the rate, half the decay."""
    rules, name = rules_of(network(), Recipe()), Tensor(Kind.WEIGHTS, 1)
    before = rules.rates(name, 0)
    exponents = rules.momentum_exponents.entries()
    rules.momentum_exponents.load({name: exponent + 1 for name, exponent in exponents.items()})
    after = rules.rates(name, 0)
    assert real(after.rate, after.rate_shift) == 2 * real(before.rate, before.rate_shift)
    assert 2 * real(after.decay, after.decay_shift) == real(before.decay, before.decay_shift)
    assert after.momentum == before.momentum


# --- Momenta that follow gradients ----------------------------------------------------------------


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
@pytest.mark.parametrize(("name", "bits", "raised"), [
    ("dZ2", 3, set()), ("dZ2", 4, {"b2"}), ("dT2", 4, {"W2"}), ("H1", 4, {"W2"}),
    ("X", 4, {"W1"}), ("dT1", 9, {"W1"}), ("dZ1", 4, {"b1"}), ("T1", 9, set())])
def test_units_follow_gradients(optimiser, name, bits, raised):
    """By a bit a step, of the parameters whose gradient has the factor that has grown."""
    recipe = Recipe(optimiser=optimiser, learning_rates=(0.0,), bias_learning_rates=(0.0,))
    model = InitialModel.of(network(dropout=0.0), recipe, *data())  # both steps are alike
    rules, entries = model.rules(), model.state.exponents
    before = {name: (rules.momentum_exponents[name], rules.rates(name, 1)) for name in rules.gains}
    rules.begin_step(0, entries)
    assert rules.momentum_exponents.raised == set()
    rules.begin_step(2, grown(entries, name, bits))
    assert rules.momentum_exponents.raised == raised
    for parameter, (exponent, rates) in before.items():
        assert rules.momentum_exponents[parameter] == exponent + (parameter in raised)
        if parameter in raised:  # half of the old units is kept
            assert rules.rates(parameter, 1).momentum == rates.momentum >> 1
    rules.begin_step(3, entries)
    assert rules.momentum_exponents.raised == set()


@pytest.mark.parametrize("net", [*(network(orders=orders) for orders in ORDERS), *OTHERS.values()])
def test_a_training_begins_with_units_that_fit(net):
    model = InitialModel.of(net, Recipe(), *data())
    rules = model.rules()
    rules.begin_step(0, model.state.exponents)
    assert rules.momentum_exponents.entries() == model.state.momentum_exponents
    assert not rules.momentum_exponents.raised


# --- The second step ---------------------------------------------------------------------------


@pytest.mark.parametrize("width", [8, 16])
def test_the_second_step_has_room_for_what_was_foreseen(width):
    """Where the first step's peak, and headroom, leave less; without peaks, less than there is."""
    model = InitialModel.of(network(), Recipe(element_width=width), *data())
    headroom = Recipe(element_width=width).headroom
    low, high, equal, none = map(Tensor.parse, ("H1", "Z2", "dZ2", "T1"))
    foreseen = {low: -3, high: -3, equal: -3, none: -3}
    rules = replace(model, foreseen=foreseen).rules()
    reached = -3 + width - 1 - headroom  # the peak from which that exponent is chosen
    entries = {**model.state.exponents, low: (9, reached - 1), high: (-9, reached + 1),
               equal: (-9, reached), none: (-4, None)}
    rules.begin_step(1, entries)
    assert rules.raised == {low: -3, none: -3}
    for step in (0, 2):
        rules.begin_step(step, entries)
        assert rules.raised == {}


def test_units_of_momenta_are_of_raised_exponents():
    model = InitialModel.of(network(), Recipe(), *data())
    name = Tensor.parse("dT2")
    exponent, _ = model.state.exponents[name]
    rules = replace(model, foreseen={name: exponent + 9}).rules()
    rules.begin_step(1, grown(model.state.exponents, name, 9))
    assert not rules.momentum_exponents.raised  # the units of the first step fit the second
    rules.begin_step(2, grown(model.state.exponents, name, 13))
    assert rules.momentum_exponents.raised == {"W2"}


# --- Step keys ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seed", "step", "key"), [
    (0, 0, 0), (5, 0, 5), (2**32 + 5, 0, 5), (0, 1, 0x9E3779B9), (7, 3, 7 + 3 * 0x9E3779B9)])
def test_step_keys(seed, step, key):
    assert rules_of(network(), Recipe(seed=seed)).step_key(step) == key % 2**32
