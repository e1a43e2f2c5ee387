# SPDX-License-Identifier: BSD-2-Clause
"""Labels and loss weights: what fits, and mantissas within their bound."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.reference.labels import (
    checked_labels,
    checked_loss_weights,
    quantized_loss_weights,
)
from hypercast.reference.recipe import BINARY_CROSS_ENTROPY, CROSS_ENTROPY
from hypercast.rtl.isa import LOSS_WEIGHT_ONE


@pytest.mark.parametrize(("labels", "loss", "message"), [
    ([0, 3], CROSS_ENTROPY, "label 3 does not fit the network's 3 outputs"),
    (np.eye(2, 3), CROSS_ENTROPY, r"cross_entropy takes one class per vertex, not labels of shape "
     r"\(2, 3\)"),
    ([0, 1], BINARY_CROSS_ENTROPY, r"binary_cross_entropy takes a row of labels per vertex, not "
     r"labels of shape \(2,\)"),
    (np.eye(2), BINARY_CROSS_ENTROPY, "2 labels per vertex, but the network has 3 outputs"),
])
def test_labels_must_fit_the_loss(labels, loss, message):
    with pytest.raises(ValueError, match=message):
        checked_labels(labels, loss, 3)


@pytest.mark.parametrize(("weights", "message"), [
    ([1.0, 2.0], r"must have shape \(3,\), not \(2,\)"),
    ([1.0, -2.0, 1.0], "loss weight of vertex 1 is -2.0"),
    ([1.0, 2.0, np.inf], "loss weight of vertex 2 is inf"),
    ([0.0, 0.0, 0.0], "all loss weights are zero"),
])
def test_weights_must_fit(weights, message):
    with pytest.raises(ValueError, match=message):
        checked_loss_weights(weights, 3)


def test_weights_of_one():
    mantissas, unit = quantized_loss_weights(checked_loss_weights(None, 3))
    assert (mantissas.tolist(), unit) == ([LOSS_WEIGHT_ONE] * 3, 1.0)


@given(st.lists(st.floats(0, 1e6), min_size=1).filter(lambda weights: max(weights) > 1e-9))
def test_mantissas(weights):
    weights = np.array(weights)
    mantissas, unit = quantized_loss_weights(weights)
    assert LOSS_WEIGHT_ONE <= mantissas.max() < 1 << 16 and mantissas.min() >= 0
    assert abs(mantissas / LOSS_WEIGHT_ONE * unit - weights).max() <= weights.max() * 2.0**-16


@pytest.mark.parametrize("unit", [0.25, 1.0, 8.0])
def test_a_unit_that_is_given(unit):
    """Weights below twice that fit it."""
    weights = np.array([0.0, unit / 2, unit, unit * 65535 / 32768])
    mantissas, same = quantized_loss_weights(weights, unit)
    assert same == unit and mantissas.tolist() == [0, LOSS_WEIGHT_ONE // 2, LOSS_WEIGHT_ONE, 65535]
    with pytest.raises(ValueError, match=f"loss weight {2 * unit} is not below {2 * unit}"):
        quantized_loss_weights(weights * 65536 / 65535 + [0, 0, 0, 0], unit)


@pytest.mark.parametrize("largest", [1.0, 0.75, 1 - 2.0**-18, 2 - 2.0**-17, 3.0])
def test_the_largest_mantissa_has_its_highest_bit(largest):
    mantissas, unit = quantized_loss_weights(np.array([largest, 0.0]))
    assert 1 << 15 <= mantissas[0] < 1 << 16 and mantissas[1] == 0
    assert mantissas[0] / LOSS_WEIGHT_ONE * unit == pytest.approx(largest, rel=2.0**-16)


def test_labels_that_fit():
    assert checked_labels([-1, 0, 2], CROSS_ENTROPY, 3).tolist() == [-1, 0, 2]
    several = checked_labels(np.eye(2, 3), BINARY_CROSS_ENTROPY, 3)
    assert several.dtype == bool and several.tolist() == np.eye(2, 3, dtype=bool).tolist()


def test_weights_that_fit():
    assert checked_loss_weights([0.0, 2.0], 2).tolist() == [0.0, 2.0]
    assert checked_loss_weights(None, 2).tolist() == [1.0, 1.0]
