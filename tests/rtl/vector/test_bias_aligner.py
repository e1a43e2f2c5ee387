# SPDX-License-Identifier: BSD-2-Clause
"""Tests of the bias aligner against ``arithmetic.align``."""

import numpy as np
import pytest

from hypercast.reference import arithmetic
from hypercast.rtl.config import PRESETS
from hypercast.rtl.layouts import AccumulatorPort
from hypercast.rtl.vector.bias_aligner import BiasAligner
from tests.bench import run


@pytest.mark.parametrize("lanes, element_width", [(2, 16), (4, 8), (16, 16)])
def test_matches_reference(lanes, element_width):
    """Also if the weight bank lets it wait."""
    config = PRESETS["test"].replace(lanes=lanes, element_width=element_width)
    rng = np.random.default_rng(lanes)
    dut = BiasAligner(config)
    low, high = -(1 << element_width - 1), (1 << element_width - 1) - 1
    furthest = config.accumulator_width - element_width - 1
    bank = {}

    async def serve(ctx):
        port = dut.weights
        while True:
            ready = rng.random() < 0.5
            ctx.set(port.request.ready, ready)
            _, _, valid, row = await ctx.tick().sample(port.request.valid, port.request.payload)
            ctx.set(port.data, bank[row] if valid and ready else 0)

    async def bench(ctx):
        for shift in [*range(-18, 4), -63, -40, furthest, furthest - 1]:
            values = rng.integers(low, high + 1, size=lanes)
            values[:2] = rng.choice([low, high, -1, 0, low // 2, 3], size=2)
            row = int(rng.integers(config.weight_rows))
            bank[row] = sum((int(value) & (1 << element_width) - 1) << lane * element_width
                            for lane, value in enumerate(values))
            ctx.set(dut.shift, shift)
            ctx.set(dut.row, row)
            ctx.set(dut.start, 1)
            await ctx.tick()
            ctx.set(dut.start, 0)
            assert ctx.get(dut.busy)
            await ctx.tick().until(~dut.busy)
            await ctx.tick().repeat(AccumulatorPort.LATENCY - 1)
            assert list(ctx.get(dut.bias)) == arithmetic.align(values, shift).tolist(), shift
        ctx.set(dut.clear, 1)
        await ctx.tick()
        assert list(ctx.get(dut.bias)) == [0] * lanes

    run(dut, bench, background=[serve], cycles=5000)
