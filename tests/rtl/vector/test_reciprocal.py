"""Tests of the reciprocal."""

import random

from hypercast.rtl.vector.reciprocal import Reciprocal
from tests.bench import run


def test_matches_division():
    rng = random.Random(0)
    divisors = [1 << 25, (1 << 25) + 1, (1 << 26) - 1, 3 << 24,
                *(rng.randrange(1 << 25, 1 << 26) for _ in range(100))]
    dut = Reciprocal()

    async def bench(ctx):
        for divisor in divisors:
            ctx.set(dut.divisor, divisor)
            ctx.set(dut.start, 1)
            await ctx.tick()
            ctx.set(dut.start, 0)
            ctx.set(dut.divisor, 0)
            for _ in range(dut.LATENCY):
                assert ctx.get(dut.busy)
                await ctx.tick()
            assert not ctx.get(dut.busy)
            assert ctx.get(dut.o) == (1 << 42) // divisor

    run(dut, bench)
