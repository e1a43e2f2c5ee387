# SPDX-License-Identifier: BSD-2-Clause
"""Matrices are rounded half to even to the finest mantissas that fit, and may share no factor."""

import math

import numpy as np
import pytest
import scipy.sparse

from hypercast.reference.quantization import (
    ConstantError,
    mantissa_and_shift,
    quantize,
    without_common_factor,
)
from hypercast.rtl.isa import MINIMUM_EXPONENT


@pytest.mark.parametrize(("values", "mantissas", "exponent"), [
    ([1.0, -0.5], [64, -32], -6),
    ([127 / 128, 0.5], [127, 64], -7),
    ([127.5 / 128], [64], -6),  # would round to 128
    ([1.5, 2.5, 127.0], [2, 2, 127], 0),
    ([0.0, 0.0], [0, 0], -7),
    ([2.0**-40], [0], MINIMUM_EXPONENT),
])
def test_quantize(values, mantissas, exponent):
    dense, found = quantize(np.array([values]), 8)
    assert (dense.tolist(), found) == ([mantissas], exponent)
    sparse, found = quantize(scipy.sparse.csr_array(np.array([values])), 8)
    assert (sparse.todense().tolist(), found) == ([mantissas], exponent)


def test_least_exponent():
    for least, expected in ((-9, ([[32, 127]], -7)), (-6, ([[16, 64]], -6)), (0, ([[0, 1]], 0))):
        mantissas, exponent = quantize(scipy.sparse.csr_array([[0.25, 127 / 128]]), 8, least)
        assert (mantissas.todense().tolist(), exponent) == expected


@pytest.mark.parametrize("kind", [np.array, scipy.sparse.csr_array])
def test_values_stay_when_factors_go(kind):
    mantissas, exponent = without_common_factor(kind(np.array([[-24, 0, 40]])), -3)
    dense = mantissas.toarray() if scipy.sparse.issparse(mantissas) else mantissas
    assert (dense.tolist(), exponent) == ([[-3, 0, 5]], 0)


@pytest.mark.parametrize(("value", "constant"), [
    (0.0, (0, 0)), (1.0, (1 << 15, 15)), (0.1, (52429, 19)), (65535.0, (65535, 0)),
    (65535.49, (65535, 0)), (2.0**-63, (1, 63)), (2.0**-64, (0, 63)),
    (32767.74, (65535, 1)), (32767.995, (32768, 0)), (16383.99975, (32768, 1))])
def test_optimiser_constants(value, constant):
    """The largest shift with which the mantissa has 16 bits, after it is rounded."""
    assert mantissa_and_shift(value, "momentum") == constant


@pytest.mark.parametrize("value", [-1e-9, 65535.5, 1e30, math.nan, math.inf])
def test_optimiser_constants_out_of_range(value):
    with pytest.raises(ConstantError, match=r"momentum gives optimiser constant .* not in 0 to"):
        mantissa_and_shift(value, "momentum")
