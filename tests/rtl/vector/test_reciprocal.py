"""Tests of weighted reciprocals."""

import random

import pytest

from hypercast.rtl.vector.reciprocal import Reciprocal
from tests.bench import run


@pytest.mark.parametrize("width", [18, 26])
def test_matches_division(width):
    rng = random.Random(0)
    half = 1 << width - 1
    divisors = [half, half + 1, 2 * half - 1, 3 * half // 2,
                *(rng.randrange(half, 2 * half) for _ in range(300))]
    weights = [1 << 15, (1 << 16) - 1, 0, 1, *(rng.randrange(1 << 16) for _ in range(300))]
    dut = Reciprocal(width)
    quotients = []

    async def bench(ctx):
        for divisor, weight in (
                *zip(divisors, weights, strict=True), *[(half, 1)] * dut.LATENCY):
            ctx.set(dut.divisor, divisor)
            ctx.set(dut.weight, weight)
            _, _, quotient = await ctx.tick().sample(dut.o)
            quotients.append(quotient)

    run(dut, bench)
    assert quotients[dut.LATENCY:] == [
        (weight << width + 1) // divisor for divisor, weight in zip(divisors, weights, strict=True)]
