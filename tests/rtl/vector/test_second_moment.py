# SPDX-License-Identifier: BSD-2-Clause
"""SecondMomentUnit against ``reference.adam``."""

import numpy as np
import pytest

from hypercast.reference import adam
from hypercast.rtl.vector.second_moment import SecondMomentUnit
from tests.bench import run
from tests.rtl.vector.adam_values import feed, moments, rates, signed_values


@pytest.mark.parametrize(("decay", "shift"), [
    (33554, 25), (32768, 16), (32768, 28), (65535, 17), (52429, 19)])
def test_second_moment(decay, shift):
    rng = np.random.default_rng(decay)
    gradients, before = signed_values(rng, 1000), moments(rng, 1000)
    dut = SecondMomentUnit()

    async def bench(ctx):
        ctx.set(dut.decay, decay)
        ctx.set(dut.decay_shift, shift)
        [found] = await feed(ctx, dut, dut.LATENCY, {"gradient": gradients, "i": before},
                              [dut.o.as_value()])
        np.testing.assert_array_equal(
            found, adam.next_second_moment(before, gradients, rates(decay, shift)))

    run(dut, bench)


@pytest.mark.parametrize(("decay", "shift"), [(33554, 25), (57344, 16), (1, 31), (65535, 31)])
def test_sums_about_a_power_of_four(decay, shift):
    """Moment and square of like size, and moments that fall below the least mantissa."""
    rng = np.random.default_rng(shift)
    count = 2000
    length = rng.integers(33, size=count)
    gradients = np.where(length == 0, 0, rng.integers(1 << 31, size=count) >> np.maximum(
        31 - length, 0)) * rng.choice([-1, 1], count)
    exponent = np.clip(length - 7 + rng.integers(-14, 15, count), 0, 30)
    near = rng.random(count) < 0.5
    exponent = np.where(near, np.clip(length - 7 + rng.integers(-1, 2, count), 0, 30), exponent)
    mantissa = rng.integers(1 << 24, 1 << 26, count)
    edge = rng.integers(4, size=count)
    mantissa[edge == 0] = (1 << 24) + rng.integers(1 << 16, size=count)[edge == 0]
    mantissa[edge == 1] = (1 << 26) - 1 - rng.integers(1 << 16, size=count)[edge == 1]
    gradients[rng.random(count) < 0.1] = 0
    before = adam.pack_second_moment(mantissa, exponent)
    dut = SecondMomentUnit()

    async def bench(ctx):
        ctx.set(dut.decay, decay)
        ctx.set(dut.decay_shift, shift)
        [found] = await feed(ctx, dut, dut.LATENCY, {"gradient": gradients, "i": before},
                             [dut.o.as_value()])
        np.testing.assert_array_equal(
            found, adam.next_second_moment(before, gradients, rates(decay, shift)))

    run(dut, bench)


def test_depth_of_the_pipeline():
    """A deeper one computes the same, but all cycles that were measured change."""
    assert SecondMomentUnit.LATENCY == 8
