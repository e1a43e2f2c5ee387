# SPDX-License-Identifier: BSD-2-Clause
"""ResetPulse: its length, after reset and on demand."""

import pytest

from hypercast.rtl.serial.reset_pulse import ResetPulse
from tests.bench import run


@pytest.mark.parametrize("cycles", [1, 2, 7, 8])
def test_length(cycles):
    dut = ResetPulse(cycles)

    async def length(ctx):
        count = 0
        while ctx.get(dut.reset):
            count += 1
            await ctx.tick()
        return count

    async def bench(ctx):
        assert await length(ctx) == cycles
        for _ in range(2):
            await ctx.tick().repeat(3)
            assert not ctx.get(dut.reset)
            ctx.set(dut.trigger, 1)
            await ctx.tick()
            ctx.set(dut.trigger, 0)
            assert await length(ctx) == cycles

    run(dut, bench, cycles=100)


def test_no_length():
    with pytest.raises(ValueError, match="cycles must be at least 1, not 0"):
        ResetPulse(0)
