# SPDX-License-Identifier: BSD-2-Clause
"""Tests of the square root."""

import random
from math import isqrt

from hypercast.rtl.vector.square_root import SquareRoot
from tests.bench import run


def test_matches_root():
    rng = random.Random(0)
    squares = [root * root + offset for root in (1, 2, 3, 255, 1 << 17, (1 << 18) - 1)
               for offset in (-1, 0, 1)]
    radicands = [0, *squares, (1 << 36) - 1, *(rng.randrange(1 << 36) for _ in range(200)),
                 *(rng.randrange(1 << rng.randrange(36)) for _ in range(200))]
    dut = SquareRoot()
    roots = []

    async def bench(ctx):
        for radicand in (*radicands, *[0] * dut.LATENCY):
            ctx.set(dut.i, radicand)
            _, _, root = await ctx.tick().sample(dut.o)
            roots.append(root)

    run(dut, bench)
    assert roots[dut.LATENCY:] == [isqrt(radicand) for radicand in radicands]


def test_depth_of_the_pipeline():
    """A deeper one computes the same, but all cycles that were measured change."""
    assert SquareRoot.LATENCY == 9
