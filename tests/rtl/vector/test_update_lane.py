"""Tests of the optimiser's arithmetic, with extremes in every combination."""

from itertools import product

import numpy as np
import pytest

from hypercast.reference import arithmetic
from hypercast.rtl.config import PRESETS
from hypercast.rtl.vector.update_lane import UpdateLane
from tests.bench import run

_EXTREMES = (-1 << 31, -1, 0, (1 << 31) - 1, 123456789)


@pytest.mark.parametrize("element_width", [8, 16])
@pytest.mark.parametrize("rates, gradient_shift, operand_shift", [
    ((58982, 33000, 25, 52429, 18), 22, 16),
    ((65535, 65535, 0, 65535, 0), 0, 0),
    ((65535, 65535, 11, 65535, 16), 15, 12),
    ((1, 65535, 13, 32768, 16), 17, 1),
    ((0, 1, 63, 1, 63), 63, 63),
])
def test_matches_reference(element_width, rates, gradient_shift, operand_shift):
    config = PRESETS["test"].replace(element_width=element_width)
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
