# SPDX-License-Identifier: BSD-2-Clause
"""Every function of the integer arithmetic against its definition in Python's integers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.reference import arithmetic
from hypercast.reference.arithmetic import (
    EXP_TABLE,
    LOG_TABLE,
    RECIPROCAL_TABLE,
    ROUND_CONSTANTS,
    Rates,
    align,
    bit_length,
    gradient_term,
    keep_mask,
    magnitude,
    requantize,
    rounded_shift,
    sigmoid_gradient,
    softmax_gradient,
    update,
)
from hypercast.rtl.isa import LOSS_EXPONENT

INT32 = st.integers(-1 << 31, (1 << 31) - 1)
INT64 = st.integers(-1 << 63, (1 << 63) - 1)
SEEDS = st.integers(0, 2**32 - 1)


def nearest(value, shift):
    """``value / 2**shift``, rounded half to even."""
    return round(Fraction(value, 1 << shift))


def saturated(value, width):
    return min(max(value, -1 << width - 1), (1 << width - 1) - 1)


# --- Rounding -----------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", range(8))
def test_every_small_number_is_rounded(shift):
    values = np.arange(-600, 601)
    assert rounded_shift(values, shift).tolist() == [nearest(int(one), shift) for one in values]


@given(INT64, st.integers(0, 63))
def test_rounding(value, shift):
    assert rounded_shift(value, shift) == nearest(value, shift)


@pytest.mark.parametrize("shift", [61, 62, 63])
def test_largest_shifts(shift):
    half = 1 << shift - 1
    values = [sign * one for one in (half - 1, half, half + 1) for sign in (-1, 1)]
    values = [value for value in (*values, -1 << 63, (1 << 63) - 1) if -1 << 63 <= value < 1 << 63]
    assert rounded_shift(values, shift).tolist() == [nearest(one, shift) for one in values]


def test_a_shift_of_nothing_copies():
    values = np.arange(3)
    rounded_shift(values, 0)[:] = 7
    assert values.tolist() == [0, 1, 2]


@given(st.lists(st.integers(-1 << 40, 1 << 40), min_size=1), st.integers(0, 40),
       st.sampled_from([8, 16, 32]))
def test_requantized(values, shift, width):
    rounded = [nearest(value, shift) for value in values]
    expected = [saturated(value, width) for value in rounded]
    mantissas, saturations = requantize(values, shift, width)
    assert mantissas.tolist() == expected
    assert saturations == sum(a != b for a, b in zip(rounded, expected, strict=True))


@pytest.mark.parametrize("width", [8, 16, 32])
def test_saturation_begins_beyond_the_range(width):
    low, high = -1 << width - 1, (1 << width - 1) - 1
    mantissas, saturations = requantize([low - 1, low, low + 1, high - 1, high, high + 1], 0, width)
    assert mantissas.tolist() == [low, low, low + 1, high - 1, high, high] and saturations == 2


@given(st.integers(-1 << 30, 1 << 30), st.integers(-80, 30))
def test_alignment(value, shift):
    assert align(value, shift) == (value << shift if shift >= 0 else nearest(value, -shift))


@given(st.lists(INT64))
def test_magnitude(values):
    expected = 0
    for value in values:
        expected |= value if value >= 0 else ~value
    assert magnitude(values) == expected and bit_length(values) == expected.bit_length()
    assert all(-1 << bit_length(values) <= value < 1 << bit_length(values) for value in values)


# --- Dropout ------------------------------------------------------------------------------------


def rotated(word, left):
    return (word << left | word >> 32 - left) & 0xFFFFFFFF


def half_of(key, rank, feature):
    """What the threshold is compared with, in Python's integers."""
    a, b, group = rank & 0xFFFFFFFF, key & 0xFFFFFFFF, feature >> 2 & 0xFFFF
    for number, constant in enumerate(ROUND_CONSTANTS):
        if number == 3:
            a, b = a ^ (group << 16 | group), b ^ (group << 24 & 0xFF000000 | group << 8)
        a = (rotated(a, 24) + b & 0xFFFFFFFF) ^ constant
        b = rotated(b, 3) ^ a
    return (a if feature & 2 else b) >> 16 * (feature & 1) & 0xFFFF


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.integers(0, 2**18 - 1))
def test_an_element_is_kept_up_to_its_half(key, rank, feature):
    half = half_of(key, rank, feature)
    assert keep_mask(key, half, [rank], [feature]).tolist() == [True]
    if half < 65535:
        assert keep_mask(key, half + 1, [rank], [feature]).tolist() == [False]


def test_masks_are_broadcast():
    mask = keep_mask(9, 1 << 15, np.arange(5)[:, None], np.arange(9))
    assert mask.tolist() == [[half_of(9, rank, feature) >= 1 << 15 for feature in range(9)]
                             for rank in range(5)]


def test_constants_are_those_of_pi():
    """By Machin's formula, with 32 bits to spare."""
    one = 1 << 288

    def arctangent(inverse):
        terms = ((-1)**n * (one // inverse**(2 * n + 1)) // (2 * n + 1) for n in range(220))
        return sum(terms)

    pi = 16 * arctangent(5) - 4 * arctangent(239) >> 32
    assert ROUND_CONSTANTS == tuple(pi >> 224 - 32 * n & 0xFFFFFFFF for n in range(8))


# --- Losses -------------------------------------------------------------------------------------


def test_tables():
    assert len(EXP_TABLE) == len(LOG_TABLE) == len(RECIPROCAL_TABLE) == 65
    places = np.arange(65) / 64
    np.testing.assert_allclose(EXP_TABLE, 65536 * np.exp2(-places), atol=0.5)
    np.testing.assert_allclose(LOG_TABLE, 4096 * np.log2(1 + places), atol=0.5)
    np.testing.assert_allclose(RECIPROCAL_TABLE, 131072 / (1 + places), atol=0.5)
    assert round(np.log2(np.e) * (1 << 14)) == arithmetic.LOG2_E


def chord(table, x, rest_bits):
    index = min(x >> rest_bits, 63)
    rise, rest = table[index + 1] - table[index], x - (index << rest_bits)
    part = abs(rise) * rest >> rest_bits
    return table[index] + (part if rise > 0 else -part)


def exponential(bits):
    return chord(EXP_TABLE, bits % 4096, 6) >> min(bits // 4096, 31)


def softmax(logits, label, shift, weight):
    """One row by the docstring: gradients and loss."""
    bits = [((max(logits) - one) * arithmetic.LOG2_E << 8) >> shift for one in logits]
    powers = [exponential(one) for one in bits]
    n = sum(powers).bit_length() - 17
    reciprocal = (weight << 18 + n) // sum(powers)
    gradients = [(power * reciprocal >> n) - (weight << 18) * (place == label)
                 for place, power in enumerate(powers)]
    loss = bits[label] + (n << 12) + chord(LOG_TABLE, (sum(powers) >> n) - 65536, 10)
    return gradients, loss * weight >> 15


def sigmoid(logits, labels, shift, weight):
    gradients, loss = [], 0
    for one, label in zip(logits, labels, strict=True):
        bits = (abs(one) * arithmetic.LOG2_E << 8) >> shift
        power = exponential(bits)
        against = power * (chord(RECIPROCAL_TABLE, power, 10) * weight >> 15)
        right = (one > 0) == label
        gradients.append((against if right else (weight << 18) - against) * (-1 if label else 1))
        loss += chord(LOG_TABLE, power, 10) + (0 if right else bits)
    return gradients, loss * weight >> 15


@given(SEEDS, st.integers(1, 70), st.integers(10, 40))
def test_losses(seed, classes, shift):
    generator = np.random.default_rng(seed)
    logits = generator.integers(-1 << 15, 1 << 15, (4, classes)) >> generator.integers(16)
    labels, several = generator.integers(classes, size=4), generator.random((4, classes)) < 0.5
    weights = generator.integers(1 << 16, size=4)
    for function, oracle, wanted in ((softmax_gradient, softmax, labels),
                                     (sigmoid_gradient, sigmoid, several)):
        row = function(logits, wanted, shift, weights)
        gradients, losses = zip(*(oracle(*case, shift, weight) for *case, weight in zip(
            logits.tolist(), wanted.tolist(), weights.tolist(), strict=True)), strict=True)
        assert row.gradient.tolist() == list(gradients) and row.loss.tolist() == list(losses)
    assert sigmoid_gradient(logits, several, shift).predicted.tolist() == (logits > 0).tolist()
    assert softmax_gradient(logits, labels, shift).predicted.tolist() == [
        row.index(max(row)) for row in logits.tolist()]


def test_a_vertex_without_class_has_the_plain_softmax():
    logits = np.array([[3, 5, -2]])
    plain = softmax_gradient(logits, [-1], 12).gradient
    gradient = softmax_gradient(logits, [1], 12).gradient
    assert (plain - gradient).tolist() == [[0, 1 << -LOSS_EXPONENT, 0]]


# --- Optimiser ----------------------------------------------------------------------------------


@given(st.integers(-1 << 46, 1 << 46), st.integers(0, 63))
def test_gradient_term(gradient, shift):
    assert gradient_term(gradient, shift) == saturated(nearest(gradient << 16, shift), 34)


@given(st.integers(-1 << 44, 1 << 44), INT32, INT32, st.tuples(
    st.integers(0, 65535), st.integers(0, 65535), st.integers(0, 47), st.integers(0, 65535),
    st.integers(0, 47)), st.integers(0, 63), st.integers(0, 31), st.sampled_from([8, 16]))
def test_update(gradient, master, momentum, rates, gradient_shift, operand_shift, width):
    rates = Rates(*rates)
    velocity = (nearest(momentum * rates.momentum, 16) + nearest(master * rates.decay,
                                                                 rates.decay_shift)
                + saturated(nearest(gradient << 16, gradient_shift), 34))
    weight = master - nearest(saturated(velocity, 32) * rates.rate, rates.rate_shift)
    operand = nearest(saturated(weight, 32), operand_shift)
    result = update(np.array([gradient]), np.array([master]), np.array([momentum]), rates,
                    gradient_shift, operand_shift, width)
    assert result.momentum == [saturated(velocity, 32)]
    assert result.master == [saturated(weight, 32)]
    assert result.operand == [saturated(operand, width)]
    assert result.magnitude == magnitude(result.master)
    assert result.saturations == ((saturated(velocity, 32) != velocity)
                                  + (saturated(weight, 32) != weight)
                                  + (saturated(operand, width) != operand))
