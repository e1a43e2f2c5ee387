# SPDX-License-Identifier: BSD-2-Clause
"""Edge weights are rounded finely enough for every vertex, in as many edges as that takes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.reference.edge_weights import (
    edge_counts,
    quantized_edge_weights,
    rounding_error,
)
from hypercast.reference.quantization import quantize
from hypercast.rtl.isa import MINIMUM_EXPONENT

WIDTHS = (8, 16)


def weights_of(small, large, count):
    """Weights of two vertices, each with ``count`` small ones, the second one also a large one."""
    return np.array([small] * 2 * count + [large]), np.array([0] * count + [1] * (count + 1))


@pytest.mark.parametrize(("mantissa", "edges"), [
    (0, 1), (1, 1), (127, 1), (128, 2), (-127, 1), (-128, 2), (254, 2), (255, 3), (-4096, 33)])
def test_edges_of_a_mantissa(mantissa, edges):
    assert edge_counts(np.array([mantissa]), 8) == [edges]


def test_small_weights_beside_a_few_large_ones_keep_their_digits():
    weights, rows = weights_of(0.0127, 1.0, 100)
    coarse, exponent = quantize(weights, 8)
    assert rounding_error(weights, coarse, exponent, rows) > 0.1
    mantissas, finer, error = quantized_edge_weights(weights, rows, 8)
    assert finer < exponent
    assert error == rounding_error(weights, mantissas, finer, rows) <= 1 / 32
    assert np.array_equal(mantissas, np.rint(np.ldexp(weights, -finer)))
    assert edge_counts(mantissas, 8).sum() <= len(weights) * 9 / 8


def test_no_more_digits_than_are_needed():
    """Weights that are rounded well stay what fits an element; so do all with 16 bits."""
    for weights, rows, width in ((*weights_of(0.2, 0.5, 9), 8), (*weights_of(0.01, 1.0, 40), 16)):
        mantissas, exponent = quantize(weights, width)
        found = quantized_edge_weights(weights, rows, width)
        assert found[1] == exponent
        assert np.array_equal(found[0], mantissas)


def test_not_too_many_edges():
    """Where more than a few weights are large, or rows ask for ones."""
    weights, rows = np.array([0.004, 1.0] * 50), np.repeat(np.arange(50), 2)
    weights, rows = np.append(weights, [0.0042] * 80), np.append(rows, 50 + np.arange(80))
    _, exponent, error = quantized_edge_weights(weights, rows, 8)
    assert exponent == quantize(weights, 8)[1]
    assert error > 1 / 32
    weights, rows = weights_of(0.0127, 1.0, 100)
    exponents = [quantized_edge_weights(weights, rows, 8, least=-6, loops=loops)[1]
                 for loops in (0, 2, 100)]
    assert exponents[0] == exponents[1] < exponents[2] == -6


def test_error_is_of_rows():
    """The mean over those that have weights, whatever their size."""
    weights, rows = np.array([100.0, 1.0, 0.0, 3.0]), np.array([0, 2, 3, 2])
    assert rounding_error(weights, np.array([100, 1, 0, 4]), 0, rows) == pytest.approx(
        (0 + 1 / 10**0.5) / 2)
    assert rounding_error(weights * 1e-200, np.array([0, 0, 0, 0]), 0, rows) == 1
    assert rounding_error(np.zeros(2), np.zeros(2, dtype=int), 0, np.zeros(2, dtype=int)) == 0


@given(st.integers(0, 2**32 - 1), st.sampled_from(WIDTHS))
def test_random_weights(seed, width):
    """Whatever weights are, the mantissas are they, rounded, and edges are few."""
    generator = np.random.default_rng(seed)
    count = int(generator.integers(1, 200))
    weights = generator.standard_normal(count) * np.exp(
        generator.uniform(0, 8) * generator.standard_normal(count))
    weights[generator.random(count) < 0.1] = 0
    rows = generator.integers(0, 10, count)
    mantissas, exponent, _ = quantized_edge_weights(weights, rows, width)
    assert np.array_equal(mantissas, np.rint(np.ldexp(weights, -exponent)))
    assert MINIMUM_EXPONENT <= exponent <= quantize(weights, width)[1]
    assert edge_counts(mantissas, width).sum() <= count * 9 / 8
    _, fitting = quantize(weights, width)
    if exponent < fitting:
        before = np.rint(np.ldexp(weights, -1 - exponent))
        assert rounding_error(weights, before, exponent + 1, rows) > 1 / 32


def test_at_most_eight_more_digits():
    """However small most weights are, and however many edges there might be."""
    weights, rows = weights_of(1e-7, 1.0, 4000)
    _, exponent, error = quantized_edge_weights(weights, rows, 8)
    assert exponent == quantize(weights, 8)[1] - 8
    assert error > 1 / 32
