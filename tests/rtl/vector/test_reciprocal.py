"""Tests of the reciprocal."""

import random

from hypercast.rtl.vector.reciprocal import Reciprocal
from tests.bench import run


def test_matches_division():
    rng = random.Random(0)
    divisors = [1 << 25, (1 << 25) + 1, (1 << 26) - 1, 3 << 24,
                *(rng.randrange(1 << 25, 1 << 26) for _ in range(300))]
    dut = Reciprocal()
    quotients = []

    async def bench(ctx):
        for divisor in (*divisors, *[1 << 25] * dut.LATENCY):
            ctx.set(dut.divisor, divisor)
            _, _, quotient = await ctx.tick().sample(dut.o)
            quotients.append(quotient)

    run(dut, bench)
    assert quotients[dut.LATENCY:] == [(1 << 42) // divisor for divisor in divisors]
