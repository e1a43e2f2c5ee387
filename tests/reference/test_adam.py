# SPDX-License-Identifier: BSD-2-Clause
"""Tests of Adam's integer arithmetic against real numbers, with the errors that follow from it."""

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hypercast.reference.adam import (
    AdamRates,
    adam_update,
    direction,
    next_second_moment,
    pack_second_moment,
    unpack_second_moment,
)
from hypercast.reference.recipe import Recipe
from hypercast.rtl.isa import MASTER_EXPONENT

#: ``1 - beta2`` as mantissa and shift: 0.001, the largest and the smallest.
DECAYS = [(33554, 25), (32768, 16), (53687, 29)]


def rates(*, momentum=0, second=DECAYS[0], epsilon=(1 << 17, 0)):
    return AdamRates(momentum, 0, 0, 0, 0, *second, *epsilon)


@st.composite
def second_moments(draw):
    """Mantissa and exponent, not too large to take in the largest gradient."""
    exponent = draw(st.integers(0, 30))
    return draw(st.integers(1 << 24 if exponent else 0, (1 << 26) - 1)), exponent


int32 = st.integers(0, 31).flatmap(lambda bits: st.integers(-1 << bits, (1 << bits) - 1))


@given(second_moments(), int32, st.sampled_from(DECAYS))
def test_second_moment(moment, gradient, second):
    mantissa, exponent = moment
    packed = next_second_moment(
        np.array([pack_second_moment(mantissa, exponent)]), np.array([gradient]),
        rates(second=second))
    assert 0 <= packed < 1 << 31
    [new_mantissa], [new_exponent] = unpack_second_moment(packed)
    assert new_exponent == 0 or new_mantissa >= 1 << 24
    found = int(new_mantissa) << 2 * int(new_exponent)
    square = Fraction(gradient**2 << 12)
    exact = (mantissa << 2 * exponent) * (1 - Fraction(second[0], 1 << second[1])) + square
    assert abs(found - exact) <= square / (1 << 16) + max(Fraction(found, 1 << 22), 2)


def moment_after(moment, gradient, second):
    """What a second moment becomes, in Python's integers, as the docstring says."""
    mantissa, exponent = moment
    kept = mantissa - (mantissa * second[0] >> second[1])
    length = abs(gradient).bit_length()
    leading = abs(gradient) << 32 - length >> 14  # 18 bits
    square, square_exponent = leading**2 >> 10, length - 7  # of 36 bits, 26
    common = max(exponent, square_exponent)
    total = (kept >> 2 * (common - exponent)) + (square >> 2 * (common - square_exponent))
    if total >> 26:
        return total >> 2, common + 1
    if common > 0 and total >> 24 == 0:
        return total << 2, common - 1
    return total, common


@given(st.lists(st.tuples(second_moments(), int32), min_size=1), st.sampled_from(DECAYS))
def test_second_moment_bit_for_bit(cases, second):
    packed = next_second_moment(
        np.array([pack_second_moment(*moment) for moment, _ in cases]),
        np.array([gradient for _, gradient in cases]), rates(second=second))
    assert [tuple(map(int, one)) for one in zip(*unpack_second_moment(packed), strict=True)] == [
        moment_after(moment, gradient, second) for moment, gradient in cases]


def direction_of(momentum, moment, epsilon):
    """``direction`` before it saturates, in Python's integers."""
    mantissa, exponent = moment
    common = max(exponent, epsilon[1])
    total = (isqrt(mantissa << 10) >> common - exponent) + (epsilon[0] >> common - epsilon[1])
    carry = total >> 18
    return round(Fraction(momentum * ((1 << 34) // (total >> carry)) << 1, 1 << common + carry))


EPSILONS = st.tuples(st.integers(1 << 17, (1 << 18) - 1), st.integers(0, 31))


@given(st.lists(st.tuples(second_moments(), int32), min_size=1), EPSILONS)
@example([((0, 0), (1 << 31) - 1), ((0, 0), -1 << 31)], (1 << 17, 0))  # beyond both ends
def test_direction_bit_for_bit(cases, epsilon):
    found, saturated = direction(
        np.array([momentum for _, momentum in cases]),
        np.array([pack_second_moment(*moment) for moment, _ in cases]), rates(epsilon=epsilon))
    exact = [direction_of(momentum, moment, epsilon) for moment, momentum in cases]
    assert found.tolist() == [min(max(one, -1 << 31), (1 << 31) - 1) for one in exact]
    assert saturated.tolist() == [not -1 << 31 <= one < 1 << 31 for one in exact]


@given(st.integers(-1 << 44, 1 << 44), int32, int32, second_moments(), EPSILONS,
       st.tuples(*[st.integers(0, 65535)] * 3, *[st.integers(0, 47)] * 2), st.integers(0, 63),
       st.integers(0, 31))
def test_update_bit_for_bit(gradient, master, momentum, moment, epsilon, constants, shift,
                            operand_shift):
    kept, decay, rate, decay_shift, rate_shift = constants
    limits = (-1 << 31, (1 << 31) - 1)

    def clip(value):
        return min(max(value, limits[0]), limits[1])

    total = min(max(round(Fraction(gradient << 16, 1 << shift)), -1 << 33), (1 << 33) - 1) + round(
        Fraction(master * decay, 1 << decay_shift))
    held = momentum * kept
    velocity = total + round(Fraction(held + (-(1 << 15) if momentum >= 0 else 1 << 15), 1 << 16))
    second = moment_after(moment, clip(total), DECAYS[0])
    step = direction_of(clip(velocity), second, epsilon)
    weight = master - round(Fraction(clip(step) * rate, 1 << rate_shift))
    operand = round(Fraction(clip(weight), 1 << operand_shift))
    result = adam_update(
        np.array([gradient]), np.array([master]), np.array([momentum]),
        np.array([pack_second_moment(*moment)]), AdamRates(
            kept, decay, decay_shift, rate, rate_shift, *DECAYS[0], *epsilon),
        shift, operand_shift, 16)
    assert (result.master, result.momentum) == (clip(weight), clip(velocity))
    assert result.second_moment == pack_second_moment(*second)
    assert result.operand == min(max(operand, -1 << 15), (1 << 15) - 1)
    assert result.saturations == (
        (total != clip(total) or velocity != clip(velocity) or step != clip(step))
        + (weight != clip(weight)) + (operand != int(result.operand[0])))


@given(second_moments(), int32, st.tuples(
    st.integers(1 << 17, (1 << 18) - 1), st.integers(0, 31)))
def test_direction(moment, momentum, epsilon):
    mantissa, exponent = moment
    found, saturated = direction(
        np.array([momentum]), np.array([pack_second_moment(mantissa, exponent)]),
        rates(epsilon=epsilon))
    # The root has 40 bits more than counts.
    root = Fraction(isqrt(mantissa << 2 * exponent + 90), 1 << 45)
    divisor = root / (1 << 6) + Fraction(epsilon[0] << epsilon[1], 1 << 11)
    exact = (momentum << 24) / divisor
    relative = Fraction(1, 1 << 15)
    if saturated[0]:
        assert abs(exact) * (1 + relative) >= (1 << 31) - 1
    else:
        assert abs(int(found[0]) - exact) <= abs(exact) * relative + Fraction(1, 2)


def test_moments_fade_completely():
    """Without gradients the momentum ends at zero, whatever it was: it is rounded towards zero."""
    momentum, moment = np.array([1 << 30, -1 << 30, 7, -7]), np.zeros(4, dtype=np.int64)
    nothing = np.zeros(4, dtype=np.int64)
    for _ in range(200):
        result = adam_update(nothing, nothing, momentum, moment, rates(momentum=58982), 16, 0, 16)
        momentum = result.momentum
    assert not momentum.any()


def test_first_step_is_the_learning_rate():
    """Whatever the gradient is, as it is divided by its own magnitude."""
    recipe = Recipe(optimiser="adam", learning_rates=(0.01,))
    constants = recipe.rates(0.01, 0.0, 1.0, -30, step=1)
    gradient = np.array([1 << 30, -1 << 20, 1 << 16, 0])
    nothing = np.zeros(4, dtype=np.int64)
    result = adam_update(gradient, nothing, nothing, nothing, constants, 16, 10, 16)
    np.testing.assert_allclose(result.master * 2.0**MASTER_EXPONENT, [-0.01, 0.01, -0.01, 0],
                               rtol=0.003)


@pytest.mark.parametrize("raised", [(), (1, 2, 3, 40, 90)], ids=["one unit", "raised"])
@pytest.mark.parametrize("beta2", [0.75, 1 - 2**-10, 1 - 2**-13])
def test_follows_real_numbers(beta2, raised):
    """100 steps: what each may add to the weights' error, by the errors of its parts.

    Gradients double in the steps ``raised``, and before them the moments' unit.
    """
    rng = np.random.default_rng(0)
    steps, count, beta1 = 100, 300, 58982 / 65536
    gain, exponent, learning_rate, epsilon = 2.0**-7, -20, 0.01, 1e-5
    recipe = Recipe(optimiser="adam", betas=(beta1, beta2), epsilon=epsilon)
    scale = 2.0 ** rng.integers(6, 24, count)
    master, momentum, moment = (np.zeros(count, dtype=np.int64) for _ in range(3))
    weight, m, v, error = (np.zeros(count) for _ in range(4))
    for step in range(1, steps + 1):
        doubled = raised.count(step)
        exponent += doubled
        unit = gain * 2.0**exponent
        gradient = np.rint(scale * rng.normal(size=count)).astype(np.int64)  # in units
        result = adam_update(
            gradient, master, momentum, moment,
            recipe.rates(learning_rate, 0.0, gain, exponent, step, raised=bool(doubled)),
            16, 16, 16)
        assert not result.saturations
        master, momentum, moment = result.master, result.momentum, result.second_moment
        m = beta1 * m + (1 - beta1) * gradient * unit
        v = beta2 * v + (1 - beta2) * (gradient * unit)**2
        corrected = m / (1 - beta1**step)
        divisor = np.sqrt(v / (1 - beta2**step)) + epsilon
        weight = weight - learning_rate * corrected / divisor
        # Two units of the momentum in each step; of the root half as much as of the moment.
        of_momentum = 2 * unit / (1 - beta1**step)
        of_root = (2**-16 + 2**-22 / (1 - beta2)) / 2 + np.sqrt(2 / (1 - beta2)) * 2**-6 * (
            unit * np.sqrt((1 - beta2) / (1 - beta2**step))) / divisor
        error += learning_rate * (
            of_momentum / divisor + abs(corrected) / divisor * (of_root + 2**-14))
        error += 2.0**MASTER_EXPONENT
    found = master * 2.0**MASTER_EXPONENT
    assert np.all(abs(found - weight) <= error)
    # A bound that says something, where gradients are far above their unit.
    assert np.median(error) < 0.01 * np.median(abs(weight))


@pytest.mark.parametrize("saturating", ["gradient", "momentum", "direction"])
def test_saturations_are_counted_once(saturating):
    one = np.array([1])
    gradient, momentum, moment = {
        "gradient": (1 << 40, 0, 0), "momentum": (1 << 30, (1 << 31) - 1, 0),
        "direction": (0, 1 << 20, 0)}[saturating]
    result = adam_update(gradient * one, 0 * one, momentum * one, moment * one,
                         rates(momentum=65535), 16, 0, 16)
    assert result.saturations == 1


@given(st.integers(1, 2000), st.floats(1e-5, 1), st.floats(1e-4, 1), st.integers(-30, -15),
       st.floats(0, 1e-4))
def test_rates_mean_what_the_recipe_says(step, learning_rate, gain, exponent, epsilon):
    recipe = Recipe(optimiser="adam", betas=(0.75, 0.875), epsilon=epsilon)
    found = recipe.rates(learning_rate, 0.0, gain, exponent, step)
    assert (found.momentum, found.second_decay * 2.0**-found.second_decay_shift) == (49152, 0.125)
    growth = np.sqrt((1 - 0.875**step) / 0.125)
    assert found.rate * 2.0**(-found.rate_shift + 24 + MASTER_EXPONENT) == pytest.approx(
        learning_rate * growth * 0.25 / (1 - 0.75**step), rel=2**-16)
    assert 1 << 17 <= found.epsilon < 1 << 18
    assert found.epsilon * 2.0**(found.epsilon_exponent - 11) == pytest.approx(
        max(64, epsilon * growth / (gain * 2.0**exponent)), rel=2**-17)


def test_epsilon_too_large():
    """What is refused does not depend on the step; what is not fits its field in all of them."""
    betas, unit = (0.9, 0.75), 2.0**-20
    limit = unit * 0.5 * 2.0**38
    with pytest.raises(ValueError, match=r"epsilon 131072\.0 is too large .* below 1\.31e\+05"):
        Recipe(optimiser="adam", betas=betas, epsilon=limit).rates(0.01, 0.0, 1.0, -20)
    for step in (1, 10, 1000):
        found = Recipe(optimiser="adam", betas=betas, epsilon=limit * 0.999).rates(
            0.01, 0.0, 1.0, -20, step)
        assert found.epsilon < 1 << 18 and found.epsilon_exponent < 32
