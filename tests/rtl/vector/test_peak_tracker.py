# SPDX-License-Identifier: BSD-2-Clause
"""Tests of the magnitude's bit length."""

import random

from hypercast.rtl.vector.peak_tracker import PeakTracker
from tests.bench import run


def test_bit_length_of_all_magnitudes():
    rng = random.Random(0)
    dut = PeakTracker(48)

    async def bench(ctx):
        for _ in range(20):
            ctx.set(dut.clear, 1)
            await ctx.tick()
            ctx.set(dut.clear, 0)
            assert ctx.get(dut.peak) == 0
            magnitudes = [rng.getrandbits(48) >> rng.randrange(49) for _ in range(rng.randrange(4))]
            for magnitude in magnitudes:
                ctx.set(dut.magnitude, magnitude)
                await ctx.tick()
            ctx.set(dut.magnitude, 0)
            await ctx.tick()
            assert ctx.get(dut.peak) == max(magnitudes, default=0).bit_length()

    run(dut, bench)
