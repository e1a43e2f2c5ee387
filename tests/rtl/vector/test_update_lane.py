# SPDX-License-Identifier: BSD-2-Clause
"""Tests of the optimiser's arithmetic, with extremes in every combination."""

from itertools import product

import numpy as np
import pytest

from hypercast.reference import adam, arithmetic
from hypercast.rtl.config import PRESETS
from hypercast.rtl.vector.adam_step import AdamStep
from hypercast.rtl.vector.update_lane import UpdateLane
from tests.bench import run

_EXTREMES = (-1 << 31, -1, 0, (1 << 31) - 1, 123456789)


@pytest.mark.grid
@pytest.mark.parametrize("with_adam", [False, True])
@pytest.mark.parametrize("element_width", [8, 16])
@pytest.mark.parametrize("rates, gradient_shift, operand_shift", [
    ((58982, 33000, 25, 52429, 18), 22, 16),
    ((65535, 65535, 0, 65535, 0), 0, 0),
    ((65535, 65535, 11, 65535, 16), 15, 12),
    ((1, 65535, 13, 32768, 16), 17, 1),
    ((0, 1, 63, 1, 63), 63, 63),
    ((32768, 32768, 16, 32768, 16), 1, 1),  # odd values lie between two results
])
def test_matches_reference(element_width, with_adam, rates, gradient_shift, operand_shift):
    config = PRESETS["test"].replace(element_width=element_width, adam=with_adam)
    width = config.accumulator_width
    rates = arithmetic.Rates(*rates)
    gradients = (-1 << width - 1, (1 << width - 1) - 1, 0, -3 << 20, 1 << 33, -1 << 33)
    cases = list(product(gradients, _EXTREMES, _EXTREMES))
    dut = UpdateLane(config)

    async def bench(ctx):
        ctx.set(dut.rates, {**rates._asdict(), "gradient_shift": gradient_shift,
                            "operand_shift": operand_shift})
        for step in range(len(cases) + dut.LATENCY):
            if step < len(cases):
                gradient, master, momentum = cases[step]
                ctx.set(dut.gradient, gradient)
                ctx.set(dut.master, master)
                ctx.set(dut.momentum, momentum)
            _, _, *results = await ctx.tick().sample(
                dut.new_master, dut.new_momentum, dut.operand, dut.magnitude, dut.saturations)
            if step >= dut.LATENCY:
                expected = arithmetic.update(
                    *(np.array([value]) for value in cases[step - dut.LATENCY]), rates,
                    gradient_shift, operand_shift, element_width)
                assert results == [int(np.ravel(value)[0]) for value in expected], (
                    cases[step - dut.LATENCY])

    run(dut, bench)


@pytest.mark.grid
@pytest.mark.parametrize("element_width", [8, 16])
@pytest.mark.parametrize("rates, gradient_shift, operand_shift", [
    ((58982, 36700, 22, 41943, 20, 33554, 25, 192416, 0), 22, 16),
    ((65535, 65535, 0, 65535, 0, 32768, 16, 1 << 17, 0), 0, 0),
    ((58982, 0, 0, 56487, 20, 53687, 29, 1 << 17, 13), 13, 12),
    ((0, 1, 63, 65535, 18, 65535, 17, (1 << 18) - 1, 31), 17, 10),
])
def test_adam_matches_reference(element_width, rates, gradient_shift, operand_shift):
    rng = np.random.default_rng(rates[0])
    config = PRESETS["test"].replace(element_width=element_width)
    width, count = config.accumulator_width, 400
    rates = adam.AdamRates(*rates)
    gradient = rng.integers(-1 << width - 1, 1 << width - 1, count) >> rng.integers(
        width, size=count)
    master, momentum = (rng.integers(-1 << 31, 1 << 31, count) >> rng.integers(32, size=count)
                        for _ in range(2))
    for values in (master, momentum):
        values[rng.random(count) < 0.3] = rng.choice(_EXTREMES)
    moment = adam.pack_second_moment(rng.integers(1 << 24, 1 << 26, count),
                                     rng.integers(31, size=count))
    dut = UpdateLane(config)
    latency = dut.LATENCY + AdamStep.LATENCY
    results = []

    async def bench(ctx):
        ctx.set(dut.rates, {**rates._asdict(), "adam": 1, "gradient_shift": gradient_shift,
                            "operand_shift": operand_shift})
        for step in range(count + latency):
            index = min(step, count - 1)
            ctx.set(dut.gradient, int(gradient[index]))
            ctx.set(dut.master, int(master[index]))
            ctx.set(dut.momentum, int(momentum[index]))
            ctx.set(dut.second_moment.as_value(), int(moment[index]))
            _, _, *found = await ctx.tick().sample(
                dut.new_master, dut.new_momentum, dut.new_second_moment.as_value(), dut.operand,
                dut.magnitude, dut.saturations)
            results.append(found)

    run(dut, bench)
    for index, found in enumerate(results[latency:]):
        expected = adam.adam_update(
            *(values[index:index + 1] for values in (gradient, master, momentum, moment)), rates,
            gradient_shift, operand_shift, element_width)
        assert found == [int(np.ravel(value)[0]) for value in expected], index


def test_depth_of_the_pipeline():
    """A deeper one computes the same, but all cycles that were measured change."""
    assert UpdateLane.LATENCY == 17
