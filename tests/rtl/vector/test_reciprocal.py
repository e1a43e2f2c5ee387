"""Tests of weighted reciprocals."""

import random

from hypercast.rtl.vector.reciprocal import Reciprocal
from tests.bench import run


def test_matches_division():
    rng = random.Random(0)
    divisors = [1 << 25, (1 << 25) + 1, (1 << 26) - 1, 3 << 24,
                *(rng.randrange(1 << 25, 1 << 26) for _ in range(300))]
    weights = [1 << 15, (1 << 16) - 1, 0, 1, *(rng.randrange(1 << 16) for _ in range(300))]
    dut = Reciprocal()
    quotients = []

    async def bench(ctx):
        for divisor, weight in (
                *zip(divisors, weights, strict=True), *[(1 << 25, 1)] * dut.LATENCY):
            ctx.set(dut.divisor, divisor)
            ctx.set(dut.weight, weight)
            _, _, quotient = await ctx.tick().sample(dut.o)
            quotients.append(quotient)

    run(dut, bench)
    assert quotients[dut.LATENCY:] == [
        (weight << 27) // divisor for divisor, weight in zip(divisors, weights, strict=True)]
