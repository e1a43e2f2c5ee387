# SPDX-License-Identifier: BSD-2-Clause
"""ReductionCount against counting."""

import numpy as np
import pytest

from hypercast.rtl.aggregation.reduction_count import ReductionCount
from hypercast.rtl.config import Config
from hypercast.rtl.isa import Opcode, encode
from tests.bench import run


def configuration(**changes):
    fields = dict(dimensions=2, lanes=2, planes=4, eject=4, accumulator_rows=16, weight_rows=16,
                  channel_words=64)
    return Config(**{**fields, **changes})


async def start(ctx, dut, first_row, panels, **fields):
    ctx.set(dut.issue.instruction, encode(
        Opcode.GRADIENT, first_row=first_row, panels=panels, **fields))
    ctx.set(dut.start, 1)
    await ctx.tick()
    ctx.set(dut.start, 0)
    ctx.set(dut.issue.instruction, 0)


@pytest.mark.parametrize("changes", [
    {}, {"dimensions": 0}, {"dimensions": 3, "element_width": 8}, {"planes": 1, "eject": 1}])
def test_busy_until_every_digit_has_arrived(changes):
    config = configuration(**changes)
    rng = np.random.default_rng(1)
    dut = ReductionCount(config)

    async def bench(ctx):
        for _ in range(20):
            core = int(rng.integers(config.cores))
            ctx.set(dut.core, core)
            expected = 0
            for _ in range(int(rng.integers(1, 3))):  # GRADIENTs may follow one another
                first, panels = int(rng.integers(20)), int(rng.integers(8))
                digits, ones = int(rng.integers(1, config.digits + 1)), int(rng.integers(2))
                rows = range(first, first + panels * (1 if ones else config.lanes))
                sums, sums_row = int(rng.integers(2)), int(rng.integers(2**20))
                owned = sum(row % config.cores == core for row in [*rows, *[sums_row] * sums])
                expected += owned * config.cores * digits
                await start(ctx, dut, first, panels, digits=digits, ones=ones,
                            sums=sums, sums_row=sums_row)
                assert ctx.get(dut.busy)
            await ctx.tick()
            while expected:
                assert ctx.get(dut.busy)
                arrived = min(int(rng.integers(config.eject + 1)), expected)
                ctx.set(dut.arrived, arrived)
                expected -= arrived
                await ctx.tick()
                assert not ctx.get(dut.error)
            ctx.set(dut.arrived, 0)
            assert not ctx.get(dut.busy)

    run(dut, bench)


def test_largest_gradient():
    """The widest operands: 2**14 - 1 tiles from the last row number on."""
    config = configuration(dimensions=0)
    dut = ReductionCount(config)
    tiles = 2**14 - 1
    cycles = tiles * config.lanes * config.digits // 4

    async def bench(ctx):
        await start(ctx, dut, 2**20 - 1, tiles, digits=config.digits)
        ctx.set(dut.arrived, 4)
        await ctx.tick().repeat(cycles)
        assert ctx.get(dut.busy)
        await ctx.tick()
        assert not ctx.get(dut.busy)

    run(dut, bench)


def test_more_than_expected_is_an_error():
    config = configuration()
    dut = ReductionCount(config)

    async def bench(ctx):
        await start(ctx, dut, 0, 2 * config.cores, digits=2, ones=1)
        ctx.set(dut.arrived, 1)
        for _ in range(2 * config.cores * 2):
            await ctx.tick()
            assert not ctx.get(dut.error)
        assert not ctx.get(dut.busy)
        await ctx.tick()
        assert ctx.get(dut.error)
        ctx.set(dut.arrived, 0)
        await ctx.tick()
        assert not ctx.get(dut.error) and not ctx.get(dut.busy)

    run(dut, bench)
