# SPDX-License-Identifier: BSD-2-Clause
"""Tests of weighted reciprocals."""

import random

import pytest

from hypercast.rtl.vector.reciprocal import Reciprocal
from tests.bench import run


@pytest.mark.parametrize("width, interval", [(18, 1), (26, 1), (26, 3), (26, 9)])
def test_matches_division(width, interval):
    rng = random.Random(0)
    half = 1 << width - 1
    divisors = [half, half + 1, 2 * half - 1, 3 * half // 2,
                *(rng.randrange(half, 2 * half) for _ in range(150))]
    weights = [1 << 15, (1 << 16) - 1, 0, 1, *(rng.randrange(1 << 16) for _ in range(150))]
    dut = Reciprocal(width, interval)
    quotients = []

    async def give(ctx):
        for divisor, weight in zip(divisors, weights, strict=True):
            ctx.set(dut.enter, 1)
            ctx.set(dut.divisor, divisor)
            ctx.set(dut.weight, weight)
            await ctx.tick()
            # Between divisors, whatever is at the inputs has no effect.
            ctx.set(dut.enter, 0)
            ctx.set(dut.weight, rng.randrange(1 << 16))
            if interval > 1:
                await ctx.tick().repeat(interval - 1 + rng.randrange(3))

    async def take(ctx):
        due = [False] * dut.LATENCY
        while len(quotients) < len(divisors):
            _, _, enter, quotient = await ctx.tick().sample(dut.enter, dut.o)
            if due.pop(0):
                quotients.append(quotient)
            due.append(bool(enter))

    run(dut, give, take)
    assert quotients == [
        (weight << width + 1) // divisor for divisor, weight in zip(divisors, weights, strict=True)]


def test_interval_that_does_not_divide_the_latency_is_refused():
    with pytest.raises(ValueError, match="divide 9, but is 2"):
        Reciprocal(18, 2)


def test_depth_of_the_pipeline():
    """A deeper one computes the same, but all cycles that were measured change."""
    assert Reciprocal.LATENCY == 9
