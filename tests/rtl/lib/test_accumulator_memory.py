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


@pytest.mark.parametrize("config", [TINY, TINY.replace(element_width=8)])
def test_sums_that_wrap_are_reported(config):
    """In the cycle two after the access that made them, and in no other."""
    rng = np.random.default_rng(config.element_width)
    dut = AccumulatorMemory(config, 2)
    limit = 1 << config.accumulator_width - 1
    stored = np.zeros((2, config.lanes), dtype=np.int64)
    expected, found = [False, False], []

    async def bench(ctx):
        for _ in range(1500):
            row, kind = int(rng.integers(2)), rng.random()
            wraps = False
            if kind < 0.1:
                await access(ctx, dut, row)
                stored[row] = 0
            elif kind < 0.3:
                ctx.set(dut.addend, [limit - 1] * config.lanes)
                await ctx.tick()
            else:
                # The largest numbers, and what takes a sum to its limit or one beyond.
                values = rng.choice([-limit, -limit // 2, -1, 0, 1, limit // 2, limit - 1],
                                    config.lanes)
                lane = int(rng.integers(config.lanes))
                edge = rng.choice([limit - 1, limit, -limit, -limit - 1]) - stored[row, lane]
                if -limit <= edge < limit:
                    values[lane] = edge
                await access(ctx, dut, row, values)
                total = stored[row] + values
                wraps = bool(((total < -limit) | (total >= limit)).any())
                stored[row] = (total + limit) % (2 * limit) - limit
            expected.append(wraps)

    async def watch(ctx):
        async for *_, overflow in ctx.tick().sample(dut.overflow):
            found.append(bool(overflow))

    run(dut, bench, background=[watch])
    assert found == expected[:len(found)] and len(found) >= 1500 and 100 < sum(found) < 1400


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
