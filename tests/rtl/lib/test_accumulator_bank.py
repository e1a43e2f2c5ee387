# SPDX-License-Identifier: BSD-2-Clause
"""AccumulatorBank against a NumPy array of accumulators."""

import numpy as np
import pytest
from amaranth.hdl import Module, ResetSignal, Signal

from hypercast.rtl.config import PRESETS
from hypercast.rtl.lib.accumulator_bank import AccumulatorBank
from tests.bench import run

TINY = PRESETS["tiny"].replace(accumulator_rows=16)


async def add(ctx, bank, buffer, row, values):
    ctx.set(bank.add_enable, 1)
    ctx.set(bank.add_buffer, buffer)
    ctx.set(bank.add_row, row)
    ctx.set(bank.addend, [int(value) for value in values])
    await ctx.tick()
    ctx.set(bank.add_enable, 0)


async def drain_all(ctx, bank, buffer, order):
    """Drains rows back to back and checks that data come two cycles after ``enable``."""
    rows = []
    for cycle in range(len(order) + 2):
        enable = cycle < len(order)
        ctx.set(bank.drain.enable, enable)
        if enable:
            ctx.set(bank.drain.buffer, buffer)
            ctx.set(bank.drain.row, int(order[cycle]))
        assert ctx.get(bank.drain.valid) == (cycle >= 2)
        if cycle >= 2:
            rows.append(list(ctx.get(bank.drain.data)))
        await ctx.tick()
    return np.array(rows, dtype=np.int64)


@pytest.mark.parametrize("config", [
    TINY, TINY.replace(element_width=8), TINY.replace(lanes=4)])
def test_adds_to_one_buffer_while_the_other_is_drained(config):
    rng = np.random.default_rng(1)
    bank = AccumulatorBank(config)
    depth, limit = config.accumulator_rows, 1 << config.accumulator_width - 2
    rounds = 4
    expected = np.zeros((rounds, depth, config.lanes), dtype=np.int64)
    phase = {"added": 0, "drained": 0}

    async def adder(ctx):
        for turn in range(rounds):
            while phase["drained"] < turn - 1:
                await ctx.tick()
            for _ in range(150):
                if rng.random() < 0.2:
                    await ctx.tick()
                    continue
                row = int(rng.integers(depth if rng.random() < 0.3 else 2))
                values = rng.integers(-limit // 128, limit // 128, config.lanes)
                expected[turn, row] += values
                await add(ctx, bank, turn % 2, row, values)
            await ctx.tick()
            phase["added"] += 1

    async def drainer(ctx):
        for turn in range(rounds):
            while phase["added"] < turn + 1:
                await ctx.tick()
            order = rng.permutation(depth)
            rows = await drain_all(ctx, bank, turn % 2, order)
            np.testing.assert_array_equal(rows, expected[turn, order])
            phase["drained"] += 1

    run(bank, adder, drainer, cycles=3000)


def test_sums_wrap():
    bank = AccumulatorBank(TINY)
    top = (1 << TINY.accumulator_width - 1) - 1

    async def bench(ctx):
        await add(ctx, bank, 0, 3, [top, -top])
        await add(ctx, bank, 0, 3, [1, -2])  # one beyond the range, both ways
        await ctx.tick()
        rows = await drain_all(ctx, bank, 0, [3])
        assert rows.tolist() == [[-top - 1, top]]

    run(bank, bench, cycles=100)


def test_the_same_row_of_both_buffers_by_turns():
    bank = AccumulatorBank(TINY)

    async def bench(ctx):
        for buffer in (0, 1, 0, 1, 1):
            await add(ctx, bank, buffer, 2, [1, -buffer])
        await ctx.tick()
        assert (await drain_all(ctx, bank, 0, [2])).tolist() == [[2, 0]]
        assert (await drain_all(ctx, bank, 1, [2])).tolist() == [[3, -3]]

    run(bank, bench, cycles=100)


def test_a_drain_two_cycles_after_an_addition_sees_it():
    bank = AccumulatorBank(TINY)

    async def bench(ctx):
        for value in (5, 6):  # the second time the row has been cleared
            await add(ctx, bank, 1, 7, [value, -value])
            await ctx.tick()
            rows = await drain_all(ctx, bank, 1, [7])
            assert rows.tolist() == [[value, -value]]

    run(bank, bench, cycles=100)


def test_a_reset_clears_everything():
    bank = AccumulatorBank(TINY)
    reset, depth = Signal(), TINY.accumulator_rows

    async def bench(ctx):
        for buffer in range(2):
            for row in range(depth):
                await add(ctx, bank, buffer, row, [row + 1, -row - 1])
        await ctx.tick()
        ctx.set(reset, 1)
        for _ in range(depth + 1):
            await ctx.tick()
        ctx.set(reset, 0)
        for buffer in range(2):
            assert not (await drain_all(ctx, bank, buffer, range(depth))).any()
        await add(ctx, bank, 0, 3, [5, 6])
        await ctx.tick()
        assert (await drain_all(ctx, bank, 0, [3])).tolist() == [[5, 6]]

    m = Module()
    m.submodules.bank = bank
    m.d.comb += ResetSignal().eq(reset)
    run(m, bench, cycles=1000)
