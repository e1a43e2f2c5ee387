# SPDX-License-Identifier: BSD-2-Clause
"""RightOperand gives the words of the rows that it is asked for, and reads a panel once."""

import numpy as np
import pytest

from hypercast.rtl.array.right_operand import RightOperand
from hypercast.rtl.config import PRESETS
from tests.bench import MemoryModel, get, put, run
from tests.rtl.flips import count_cycles, flip, parity_memories  # noqa: F401
from tests.rtl.storing import store

CONFIGS = {"tiny": PRESETS["tiny"].replace(accumulator_rows=16),
           "bytes": PRESETS["tiny"].replace(accumulator_rows=16, element_width=8),
           "test": PRESETS["test"].replace(accumulator_rows=32)}
ADDRESS = 33


class Bench:
    """An operand with memory, and somebody who asks for rows."""

    def __init__(self, config, *, latency=1, stall=0.0):
        self.config = config
        self.rng = np.random.default_rng(latency)
        self.operand = RightOperand(config)
        self._memory = MemoryModel(config, self.rng, latency, stall)
        self._stall = stall
        self._wanted = []
        self._cycle = self._words_read = 0

    async def gradient(self, ctx, rows, wanted, panels=1, ones=0):
        """Checks the words of rows ``wanted``; returns the cycles it took and the words read.

        With ``ones``, the rows of the second panel are numbered behind those of the first, and so
        on.
        """
        operand = self.operand
        channel, stride = int(self.rng.integers(2)), rows + 3
        panel = self.panel(rows * panels if ones else rows)
        for first in range(0, len(panel), rows):
            start = ADDRESS + first // rows * stride
            self._memory.channels[channel][start:start + rows] = panel[first:first + rows]
        ctx.set(operand.job, {"gradient": 1, "rows": rows, "panels": panels, "ones": ones,
                              "stride": stride, "gradient_channel": channel,
                              "gradient_address": ADDRESS})
        ctx.set(operand.start, 1)
        await ctx.tick()
        ctx.set(operand.start, 0)
        began, read = self._cycle, self._words_read
        self._wanted = [int(row) for row in wanted]
        found = await get(ctx, operand.o, len(wanted), self.rng, self._stall)
        assert found == [panel[row] for row in wanted]
        cycles = self._cycle - began
        while ctx.get(operand.busy):
            await ctx.tick()
        assert not ctx.get(operand.o.valid)
        return cycles, self._words_read - read

    async def bypassed(self, ctx, base, panel, wanted, *, chained=0):
        """Checks the words of rows ``wanted`` of a panel that the vector unit put at ``base``."""
        ctx.set(self.operand.job, {"gradient": 1, "rows": len(panel), "panels": 1, "bypassed": 1,
                                   "bypass_base": base, "chained": chained})
        ctx.set(self.operand.start, 1)
        await ctx.tick()
        ctx.set(self.operand.start, 0)
        read = self._words_read
        self._wanted = [int(row) for row in wanted]
        assert await get(ctx, self.operand.o, len(wanted), self.rng, self._stall) == [
            panel[row] for row in wanted]
        assert not ctx.get(self.operand.busy) and self._words_read == read

    def panel(self, rows):
        """Random words."""
        return [int.from_bytes(self.rng.bytes(self.config.data_width // 8), "little")
                for _ in range(rows)]

    def run(self, program, background=()):
        async def ask(ctx):
            while True:
                rows, self._wanted = self._wanted, []
                await put(ctx, self.operand.rows, rows, self.rng, self._stall)
                await ctx.tick()

        async def count(ctx):
            while True:
                _, _, valid = await ctx.tick().sample(self.operand.port.data.valid)
                self._cycle += 1
                self._words_read += valid

        run(self.operand, program, background=[
            ask, count, *background, lambda ctx: self._memory.serve_read(ctx, self.operand.port)])


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("latency,stall", [(1, 0.0), (5, 0.3), (64, 0.1)])
def test_rows(name, latency, stall):
    """Dense and word-sparse left operands, panels of up to as many rows as there is room for."""
    bench = Bench(CONFIGS[name], latency=latency, stall=stall)
    most = bench.config.accumulator_rows

    async def program(ctx):
        for rows in (1, 7, most - 1, most):
            _, read = await bench.gradient(ctx, rows, 3 * list(range(rows)), panels=3)
            assert read == rows
            some = np.flatnonzero(bench.rng.random(rows) < 0.3)
            _, read = await bench.gradient(ctx, rows, [*some, rows - 1, 0, *some], panels=4)
            assert read == rows
        await bench.gradient(ctx, most, [0])
        _, read = await bench.gradient(ctx, 5, [], panels=0)
        assert read == 0
        await bench.gradient(ctx, 5, [4, 3])

    bench.run(program)


def test_a_word_every_cycle():
    """Also while the panel is still being read."""
    bench = Bench(CONFIGS["test"])

    async def program(ctx):
        wanted = 4 * list(range(32))
        cycles, _ = await bench.gradient(ctx, 32, wanted, panels=4)
        assert cycles <= len(wanted) + 10

    bench.run(program)


@pytest.mark.parametrize("latency,stall", [(1, 0.0), (64, 0.2)])
def test_ones_have_a_panel_for_each_tile(latency, stall):
    bench = Bench(CONFIGS["test"], latency=latency, stall=stall)

    async def program(ctx):
        for rows in (1, 9, 40):
            _, read = await bench.gradient(ctx, rows, range(3 * rows), panels=3, ones=1)
            assert read == 3 * rows

    bench.run(program)


@pytest.mark.parametrize("stall", [0.0, 0.4])
def test_bypassed_panels(stall):
    """They stay while other panels come from memory."""
    bench = Bench(CONFIGS["test"], latency=20, stall=stall)
    config = bench.config

    async def program(ctx):
        panels = {0: bench.panel(config.accumulator_rows), 40: bench.panel(1), 60: bench.panel(9)}
        for base, panel in panels.items():
            await store(ctx, bench.operand.bypass, base, panel, bench.rng, stall)
        for base, panel in panels.items():
            rows = len(panel)
            await bench.gradient(ctx, config.accumulator_rows, range(5), panels=1)
            await bench.bypassed(ctx, base, panel, [*range(rows), rows - 1, 0, *range(rows)])

    bench.run(program)


@pytest.mark.parametrize("stall", [0.0, 0.4])
@pytest.mark.parametrize("idle", [0.0, 0.6])
@pytest.mark.parametrize("memory", [False, True], ids=["chained", "another"])
def test_while_the_vector_unit_stores(idle, stall, memory):
    """A GRADIENT follows, or takes another panel from memory."""
    bench = Bench(CONFIGS["test"], latency=9, stall=stall)
    panels = [bench.panel(rows) for rows in (30, 1, 17, 32)]
    to_store = []

    async def program(ctx):
        for panel in panels:
            to_store.append(panel)
            await ctx.tick().repeat(2)
            rows = list(range(len(panel)))
            if memory:
                await bench.gradient(ctx, len(panel), 2 * rows, panels=2)
            else:
                await bench.bypassed(ctx, 11, panel, 2 * rows, chained=1)
            while to_store:
                await ctx.tick()
            await bench.bypassed(ctx, 11, panel, rows)

    async def vector_unit(ctx):
        while True:
            if to_store:
                await store(ctx, bench.operand.bypass, 11, to_store[0], bench.rng, idle)
                to_store.pop()
            await ctx.tick()

    bench.run(program, [vector_unit])


@pytest.mark.parametrize("stall", [0.0, 0.5])
def test_a_changed_word_is_reported(stall, parity_memories):  # noqa: F811
    """One bit changes in rows that the vector unit stored, and one fault is reported."""
    bench, faults = Bench(CONFIGS["test"], stall=stall), []

    async def program(ctx):
        _, entries = parity_memories
        panel = bench.panel(9)
        await store(ctx, bench.operand.bypass, 20, panel, bench.rng)
        await bench.bypassed(ctx, 20, panel, range(9))
        assert not faults
        flip(ctx, entries, 24, CONFIGS["test"].data_width)
        await bench.bypassed(ctx, 20, panel, range(9))
        await ctx.tick().repeat(2)
        assert len(faults) == 1

    bench.run(program, [count_cycles(bench.operand.fault, faults)])


def test_nothing_waits_for_the_receiver():
    """A word is there before anybody is ready for it, and stays until somebody is."""
    bench = Bench(CONFIGS["test"])

    async def program(ctx):
        panel = bench.panel(4)
        await store(ctx, bench.operand.bypass, 0, panel, bench.rng)
        ctx.set(bench.operand.job, {"gradient": 1, "rows": 4, "panels": 1, "bypassed": 1})
        ctx.set(bench.operand.start, 1)
        await ctx.tick()
        ctx.set(bench.operand.start, 0)
        bench._wanted = [2, 1]
        await ctx.tick().repeat(8)
        assert ctx.get(bench.operand.o.valid)
        assert await get(ctx, bench.operand.o, 2, bench.rng) == [panel[2], panel[1]]

    bench.run(program)


def test_what_is_stored_after_the_start_is_not_waited_for():
    """Rows of a panel that is there can be read while others are stored."""
    bench = Bench(CONFIGS["test"])
    operand = bench.operand

    async def program(ctx):
        panel = bench.panel(6)
        await store(ctx, operand.bypass, 0, panel, bench.rng)
        ctx.set(operand.job, {"gradient": 1, "rows": 6, "panels": 1, "bypassed": 1, "chained": 1})
        ctx.set(operand.start, 1)
        await ctx.tick()
        ctx.set(operand.start, 0)
        await ctx.tick()
        ctx.set(operand.bypass.storing, 1)  # and no row of it comes
        ctx.set(operand.bypass.rows, 0)
        bench._wanted = list(range(6))
        assert await get(ctx, operand.o, 6, bench.rng) == panel

    bench.run(program)
