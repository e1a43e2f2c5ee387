# SPDX-License-Identifier: BSD-2-Clause
"""AdamDirection against ``reference.adam``."""

import numpy as np
import pytest

from hypercast.reference import adam
from hypercast.rtl.vector.adam_direction import AdamDirection
from tests.bench import run
from tests.rtl.vector.adam_values import feed, moments, rates, signed_values


@pytest.mark.parametrize(("epsilon", "epsilon_exponent"), [
    (1 << 17, 0), (161949, 1), (150000, 15), ((1 << 18) - 1, 31)])
def test_direction(epsilon, epsilon_exponent):
    rng = np.random.default_rng(epsilon)
    momenta, squares = signed_values(rng, 1000), moments(rng, 1000)
    # Most directions are neither near zero nor saturated.
    mantissa, exponent = adam.unpack_second_moment(squares)
    root = np.sqrt(mantissa * 4.0**exponent / 4096)
    usual = rng.random(1000) < 0.7
    momenta = np.where(usual, np.clip(root * rng.normal(size=1000), -1 << 31, (1 << 31) - 1),
                       momenta).astype(np.int64)
    dut = AdamDirection()

    async def bench(ctx):
        ctx.set(dut.epsilon, epsilon)
        ctx.set(dut.epsilon_exponent, epsilon_exponent)
        found, saturated = await feed(
            ctx, dut, dut.LATENCY, {"momentum": momenta, "second_moment": squares},
            [dut.o, dut.saturated])
        expected, too_long = adam.direction(
            momenta, squares, rates(epsilon=epsilon, exponent=epsilon_exponent))
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(saturated, too_long)
        assert too_long.any() == (epsilon_exponent < 31)

    run(dut, bench)


@pytest.mark.parametrize("epsilon_exponent", [2, 11, 20])
def test_root_and_epsilon_of_like_size(epsilon_exponent):
    """The larger of them is either, and their sum has a bit more than it or not."""
    rng = np.random.default_rng(epsilon_exponent)
    count = 600
    epsilon = int(rng.integers(1 << 17, 1 << 18))
    exponent = epsilon_exponent + rng.integers(-2, 3, count)
    squares = adam.pack_second_moment(rng.integers(1 << 24, 1 << 26, count), exponent)
    momenta = signed_values(rng, count) >> rng.integers(12, size=count)
    dut = AdamDirection()

    async def bench(ctx):
        ctx.set(dut.epsilon, epsilon)
        ctx.set(dut.epsilon_exponent, epsilon_exponent)
        found, saturated = await feed(
            ctx, dut, dut.LATENCY, {"momentum": momenta, "second_moment": squares},
            [dut.o, dut.saturated])
        expected, too_long = adam.direction(
            momenta, squares, rates(epsilon=epsilon, exponent=epsilon_exponent))
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(saturated, too_long)

    run(dut, bench)


def test_depth_of_the_pipeline():
    """A deeper one computes the same, but all cycles that were measured change."""
    assert AdamDirection.LATENCY == 26
