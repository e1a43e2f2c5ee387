# SPDX-License-Identifier: BSD-2-Clause
"""AdamStep against ``reference.adam``."""

import numpy as np

from hypercast.reference import adam
from hypercast.rtl.vector.adam_step import AdamStep
from tests.bench import run
from tests.rtl.vector.adam_values import feed, moments, rates, signed_values


def test_both_belong_to_the_same_element():
    rng = np.random.default_rng(0)
    gradients, momenta, before = signed_values(rng, 200), signed_values(rng, 200), moments(rng, 200)
    dut = AdamStep()

    async def bench(ctx):
        for name, value in (("decay", 33554), ("decay_shift", 25), ("epsilon", 1 << 17),
                            ("epsilon_exponent", 3)):
            ctx.set(getattr(dut, name), value)
        direction, saturated, moment = await feed(
            ctx, dut, dut.LATENCY,
            {"gradient": gradients, "momentum": momenta, "second_moment": before},
            [dut.direction, dut.saturated, dut.new_second_moment.as_value()])
        constants = rates(exponent=3)
        expected = adam.next_second_moment(before, gradients, constants)
        np.testing.assert_array_equal(moment, expected)
        wanted, too_long = adam.direction(momenta, expected, constants)
        np.testing.assert_array_equal(direction, wanted)
        np.testing.assert_array_equal(saturated, too_long)

    run(dut, bench)


def test_depth_of_the_pipeline():
    """A deeper one computes the same, but all cycles that were measured change."""
    assert AdamStep.LATENCY == 34
