# SPDX-License-Identifier: BSD-2-Clause
"""The watchdog barks when nothing has moved for long enough, or too much has, and only then."""

import pytest

from hypercast.rtl.control import watchdog
from hypercast.rtl.registers import LIMIT_UNIT
from tests.bench import run


async def barks(ctx, signal, cycles):
    """In which of the next cycles it barks."""
    found = []
    for cycle in range(cycles):
        _, _, high = await ctx.tick().sample(signal)
        if high:
            found.append(cycle)
    return found


def test_patience(monkeypatch):
    monkeypatch.setattr(watchdog, "PATIENCE", 16)
    dut = watchdog.Watchdog()

    async def bench(ctx):
        ctx.set(dut.limit, 1)
        assert await barks(ctx, dut.standstill, 100) == []  # no program runs
        ctx.set(dut.enable, 1)
        for _ in range(5):
            assert await barks(ctx, dut.standstill, 15) == []
            ctx.set(dut.progress, 1)
            assert await barks(ctx, dut.standstill, 1) == []
            ctx.set(dut.progress, 0)
        assert await barks(ctx, dut.standstill, 40) == [16, 32]
        assert not ctx.get(dut.runaway)

    run(dut, bench)


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_a_runaway(limit):
    """Cycles without progress do not count; each program counts anew."""
    dut, moves = watchdog.Watchdog(), limit * LIMIT_UNIT

    async def bench(ctx):
        ctx.set(dut.limit, limit)
        for pause in (0, 3):
            ctx.set(dut.progress, 1)
            assert await barks(ctx, dut.runaway, 300) == []  # no program runs
            ctx.set(dut.enable, 1)
            for _ in range(moves):
                ctx.set(dut.progress, 0)
                assert await barks(ctx, dut.runaway, pause) == []
                ctx.set(dut.progress, 1)
                assert await barks(ctx, dut.runaway, 1) == []
            ctx.set(dut.progress, 0)
            assert await barks(ctx, dut.runaway, 5) == [1, 2, 3, 4]
            ctx.set(dut.enable, 0)
            await ctx.tick()

    run(dut, bench)


def test_a_limit_that_is_lowered_meanwhile():
    dut = watchdog.Watchdog()

    async def bench(ctx):
        ctx.set(dut.limit, 0xFFFFFFFF)
        ctx.set(dut.enable, 1)
        ctx.set(dut.progress, 1)
        assert await barks(ctx, dut.runaway, 3 * LIMIT_UNIT) == []
        ctx.set(dut.limit, 2)
        assert await barks(ctx, dut.runaway, 3) == [1, 2]

    run(dut, bench)
