# SPDX-License-Identifier: BSD-2-Clause
"""Frames, and the ages that follow from them."""

import random

from hypercast.rtl.network.age import FlitAge, FrameCounter
from tests.bench import run


def test_frames_are_32_cycles_and_wrap():
    dut = FrameCounter()

    async def bench(ctx):
        for cycle in range(1200):
            assert ctx.get(dut.frame) == cycle // 32 % 32
            await ctx.tick()
        ctx.set(dut.clear, 1)
        await ctx.tick()
        ctx.set(dut.clear, 0)
        for cycle in range(70):
            assert ctx.get(dut.frame) == cycle // 32
            await ctx.tick()

    run(dut, bench)


def test_ages_saturate_and_are_a_cycle_late():
    dut = FlitAge()
    rng = random.Random(1)

    async def bench(ctx):
        for _ in range(500):
            injected, valid = rng.randrange(32), rng.random() < 0.8
            elapsed = rng.choice([0, 1, 2, 3, 31, rng.randrange(32)])
            ctx.set(dut.injected, injected)
            ctx.set(dut.frame, (injected + elapsed) % 32)
            ctx.set(dut.valid, valid)
            await ctx.tick()
            expected = min(elapsed, 3) if valid else 0
            assert ctx.get(dut.age) == (1 << expected) - 1

    run(dut, bench)
