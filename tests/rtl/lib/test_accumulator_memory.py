# SPDX-License-Identifier: BSD-2-Clause
"""AccumulatorMemory against a NumPy array of accumulators."""

import numpy as np
import pytest
from amaranth.hdl import Module, ResetSignal, Signal

from hypercast.rtl.config import PRESETS
from hypercast.rtl.lib.accumulator_memory import AccumulatorMemory
from tests.bench import run

TINY = PRESETS["tiny"]


async def access(ctx, dut, row, values=None):
    """Add ``values`` to a row, or clear it if there are none."""
    ctx.set(dut.enable, 1)
    ctx.set(dut.row, row)
    ctx.set(dut.clear, values is None)
    ctx.set(dut.addend, [0x5555] * len(dut.addend) if values is None else values.tolist())
    await ctx.tick()
    ctx.set(dut.enable, 0)


@pytest.mark.parametrize("config", [
    TINY, TINY.replace(element_width=8), TINY.replace(lanes=4)])
@pytest.mark.parametrize("rows", [2, 16])
def test_any_access_in_any_cycle(config, rows):
    """Rows repeat, also as one is added to right after it was cleared."""
    rng = np.random.default_rng(rows)
    dut = AccumulatorMemory(config, rows)
    expected = np.zeros((rows, config.lanes), dtype=np.int64)
    limit = 1 << config.accumulator_width - 12

    async def bench(ctx):
        previous = None
        for _ in range(800):
            row = int(rng.integers(rows))
            if rng.random() < 0.2:
                await ctx.tick()
                row = None
            elif rng.random() < 0.3:
                await access(ctx, dut, row)
                if row != previous:
                    assert list(ctx.get(dut.data)) == expected[row].tolist()
                expected[row] = 0
            else:
                values = rng.integers(-limit, limit, config.lanes)
                await access(ctx, dut, row, values)
                expected[row] += values
            previous = row

    run(dut, bench)


@pytest.mark.parametrize("rows", [4, 16])
def test_a_reset_clears_everything(rows):
    """The sum that is under way as it begins, too."""
    dut = AccumulatorMemory(TINY, rows)
    reset = Signal()

    async def bench(ctx):
        for _ in range(3):
            for row in range(rows):
                await access(ctx, dut, row, np.array([row + 1, -row - 1]))
            await access(ctx, dut, 0, np.array([1, 1]))  # what has been read is not zero
            ctx.set(reset, 1)
            for _ in range(rows + 1):
                await ctx.tick()
            ctx.set(reset, 0)
            for row in range(rows):
                await access(ctx, dut, row, np.array([row, 7]))
            for row in range(rows):
                await access(ctx, dut, row)
                assert list(ctx.get(dut.data)) == [row, 7]

    m = Module()
    m.submodules.dut = dut
    m.d.comb += ResetSignal().eq(reset)
    run(m, bench, cycles=1000)
