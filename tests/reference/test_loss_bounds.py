# SPDX-License-Identifier: BSD-2-Clause
"""The losses' integer definitions against real numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.reference.arithmetic import (
    sigmoid_gradient,
    softmax_gradient,
)
from hypercast.rtl.isa import LOSS_SHIFT, LOSS_WEIGHT_ONE

#: Most that a sigmoid is off. In real numbers t bits, e = 2**-t and s = e / (1 + e); with what the
#: definition makes of them:
#:
#: * u is t less at most 2**-12 (floor) and 4.9e-6 t (log2 e rounded), so 2**-u is above e by less
#:   than 1.70e-4 e + 4.9e-6 * 0.37, since e t ln 2 is at most 0.37;
#: * the chord of 2**-x adds at most (ln 2 / 64)**2 / 8 = 1.47e-5 e; the table's rounding and the
#:   product's floor add 1.5 * 2**-16 of a number that is below 2 e: 4.6e-5 e. The table's rounding
#:   and the last floor take away at most 1.5 * 2**-16 = 2.3e-5;
#: * so e is off by -2.3e-5 to 2.31e-4 e + 1.8e-6, and s, whose slope is 1 / (1 + e)**2, by at most
#:   2.31e-4 / 4 + 1.8e-6 = 6.0e-5 upwards;
#: * the chord of 1 / (1 + e) is above it by at most 64**-2 / 8 * 2 / (1 + e)**3, times e below
#:   9.1e-6; its table and floors are off by at most 1.5 * 2**-17 = 1.15e-5.
_SIGMOID = 2.0**-13.5
#: Most that a label's loss is off, in 2**-12 bits, besides 2**-17 u: u by 1; its logarithm by the
#: error of e, at most 2.33e-4 / 2 / ln 2 * 4096 = 0.69, by the chord (64**-2 / 8 / ln 2 * 4096 =
#: 0.18), by the table's rounding (0.5) and a floor (1).
_LOSS = 4


def _real(logits, labels, exponent):
    """Gradients (V, C), and losses and bits (V, C) in 2**-12 bits, in float64."""
    values = logits * 2.0**exponent
    losses = np.logaddexp(0, values) - labels * values
    bits = 4096 / np.log(2)
    sigmoids = np.exp(-np.logaddexp(0, -values))
    return sigmoids - labels, losses * bits, abs(values) * bits


@pytest.mark.parametrize("exponent", range(-22, 3, 2))
def test_every_logit(exponent):
    logits = np.arange(-1 << 15, 1 << 15)[:, None]
    for label in (False, True):
        labels = np.full(logits.shape, label)
        row = sigmoid_gradient(logits, labels, LOSS_SHIFT - exponent)
        gradient, loss, bits = _real(logits, labels, exponent)
        assert abs(row.gradient / 2**33 - gradient).max() < _SIGMOID
        assert (abs(row.loss - loss[:, 0]) < _LOSS + bits[:, 0] / 2**17).all()
        assert np.array_equal(row.predicted, logits > 0)


def test_bound_is_tight():
    logits = np.arange(1 << 15)[:, None]
    row = sigmoid_gradient(logits, np.zeros(logits.shape, bool), LOSS_SHIFT + 12)
    gradient, _, _ = _real(logits, np.zeros(logits.shape), -12)
    assert abs(row.gradient / 2**33 - gradient).max() > _SIGMOID / 2


@st.composite
def rows(draw):
    """Logits, labels, weights and an exponent."""
    shape = draw(st.integers(1, 6)), draw(st.integers(1, 20))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    logits = generator.integers(-1 << 15, 1 << 15, size=shape) >> generator.integers(
        15, size=shape)
    weights = generator.integers(1 << 16, size=shape[0])
    return logits, generator.random(shape) < 0.5, weights, draw(st.integers(-20, 0))


@given(rows())
def test_weighted_sigmoids(case):
    logits, labels, weights, exponent = case
    row = sigmoid_gradient(logits, labels, LOSS_SHIFT - exponent, weights)
    gradient, loss, bits = _real(logits, labels, exponent)
    factors = weights / LOSS_WEIGHT_ONE
    # The product with the weight is floored to 2**-17, the loss to a unit.
    assert (abs(row.gradient / 2**33 - gradient * factors[:, None])
            <= _SIGMOID * factors[:, None] + 2.0**-17).all()
    assert (abs(row.loss - loss.sum(axis=1) * factors)
            <= (_LOSS * logits.shape[1] + bits.sum(axis=1) / 2**17) * factors + 1).all()
    assert abs(row.gradient).max() < 1 << 34  # what the chip has room for


@given(rows())
def test_weighted_softmax(case):
    """Weighting the reciprocal and then flooring is weighting, but for two floors."""
    logits, _, weights, exponent = case
    labels = logits.argmin(axis=1)
    shift = LOSS_SHIFT - exponent
    plain = softmax_gradient(logits, labels, shift)
    row = softmax_gradient(logits, labels, shift, weights)
    factors = weights / LOSS_WEIGHT_ONE
    # Both floor the quotient, which is at least 2**16, to a unit, and then the product.
    difference = row.gradient / 2**33 - plain.gradient / 2**33 * factors[:, None]
    assert abs(difference).max() <= 3 * 2.0**-16
    assert (abs(row.loss - plain.loss * factors) < 1).all()
    assert abs(row.gradient).max() < 1 << 34
    assert np.array_equal(row.predicted, plain.predicted)


@given(rows())
def test_weight_one_changes_nothing(case):
    logits, labels, _, exponent = case
    shift = LOSS_SHIFT - exponent
    ones = np.full(len(logits), LOSS_WEIGHT_ONE)
    for function, targets in ((sigmoid_gradient, labels), (softmax_gradient, labels[:, 0] * 0)):
        for plain, weighted in zip(function(logits, targets, shift),
                                   function(logits, targets, shift, ones), strict=True):
            assert np.array_equal(plain, weighted)


@given(rows())
def test_two_classes_are_one_label(case):
    """The softmax of z and 0 is the sigmoid of z, within both bounds."""
    logits, labels, _, exponent = case
    logits, labels = logits[:, :1], labels[:, :1]
    shift = LOSS_SHIFT - exponent
    one = sigmoid_gradient(logits, labels, shift)
    two = softmax_gradient(np.concatenate([0 * logits, logits], axis=1), labels[:, 0] * 1, shift)
    assert abs(one.gradient[:, 0] - two.gradient[:, 1]).max() < 2 * _SIGMOID * 2**33
    assert abs(one.loss - two.loss).max() <= 2
