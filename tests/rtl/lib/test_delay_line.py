# SPDX-License-Identifier: BSD-2-Clause
"""Tests of the delay line."""

import random

import pytest

from hypercast.rtl.lib.delay_line import DelayLine
from tests.bench import run


@pytest.mark.parametrize("cycles", [2, 3, 8, 29])
def test_delays(cycles):
    rng = random.Random(cycles)
    values = [rng.randrange(1 << 9) for _ in range(4 * cycles)]
    dut = DelayLine(9, cycles)
    delayed = []

    async def bench(ctx):
        for value in (*values, *[0] * cycles):
            ctx.set(dut.i, value)
            _, _, out = await ctx.tick().sample(dut.o)
            delayed.append(out)

    run(dut, bench)
    assert delayed[cycles:] == values


def test_too_short():
    with pytest.raises(ValueError, match="cycles must be at least 2, not 1"):
        DelayLine(9, 1)
