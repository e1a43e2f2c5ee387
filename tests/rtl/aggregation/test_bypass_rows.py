# SPDX-License-Identifier: BSD-2-Clause
"""BypassRows gives what was stored, also while it is being stored."""

import numpy as np
import pytest

from hypercast.rtl.aggregation.bypass_rows import BypassRows
from hypercast.rtl.config import PRESETS
from tests.bench import get, run
from tests.rtl.flips import count_cycles, flip, parity_memories  # noqa: F401
from tests.rtl.storing import store

CONFIGS = {"tiny": PRESETS["tiny"], "bytes": PRESETS["test"].replace(element_width=8)}


async def start(ctx, dut, base, rows, chained):
    for name, value in (("base", base), ("rows", rows), ("chained", chained), ("start", 1)):
        ctx.set(getattr(dut, name), value)
    await ctx.tick()
    ctx.set(dut.start, 0)


def panel(config, rng, rows):
    return [int.from_bytes(rng.bytes(config.data_width // 8), "little") for _ in range(rows)]


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("idle,stall", [(0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (0.4, 0.4)])
def test_several_panels(name, idle, stall):
    """Stored before, or read by one that follows."""
    config, rng = CONFIGS[name], np.random.default_rng(1)
    dut = BypassRows(config)
    panels = {base: panel(config, rng, rows) for base, rows in ((0, 7), (8, 1), (20, 30))}

    async def program(ctx):
        for base, words in panels.items():
            await store(ctx, dut.bypass, base, words, rng, idle)
        for base, words in panels.items():
            for chained in (False, True):
                await start(ctx, dut, base, len(words), chained)
                assert await get(ctx, dut.o, len(words), rng, stall) == words
        await start(ctx, dut, 0, 0, False)
        await ctx.tick().repeat(4)
        assert not ctx.get(dut.o.valid)

    run(dut, program)


@pytest.mark.parametrize("idle", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("stall", [0.0, 0.5])
@pytest.mark.parametrize("delay", [2, 3, 10])
def test_chained(idle, stall, delay):
    """Starting while rows are stored, whatever lay there before; then a shorter panel follows."""
    config, rng = CONFIGS["tiny"], np.random.default_rng(2)
    dut = BypassRows(config)
    rounds = [panel(config, rng, 15) for _ in range(4)]

    to_store = []

    async def program(ctx):
        for words in rounds:
            to_store.append(words)
            await ctx.tick().repeat(delay)
            await start(ctx, dut, 3, len(words), True)
            assert await get(ctx, dut.o, len(words), rng, stall) == words
            while to_store:
                await ctx.tick()

    async def vector_unit(ctx):
        while True:
            if to_store:
                await store(ctx, dut.bypass, 3, to_store[0], rng, idle)
                await ctx.tick().repeat(3)
                await store(ctx, dut.bypass, 30, [0] * 2, rng)
                to_store.pop()
            await ctx.tick()

    run(dut, program, background=[vector_unit])


def test_a_word_every_cycle():
    config, rng = CONFIGS["tiny"], np.random.default_rng(3)
    dut = BypassRows(config)
    words = panel(config, rng, 40)

    async def program(ctx):
        await store(ctx, dut.bypass, 0, words, rng)
        ctx.set(dut.o.ready, 1)
        await start(ctx, dut, 0, len(words), False)
        await ctx.tick()
        for word in words:
            _, _, valid, payload = await ctx.tick().sample(dut.o.valid, dut.o.payload)
            assert valid and payload == word

    run(dut, program)


@pytest.mark.parametrize("stall", [0.0, 0.6])
def test_a_changed_word_is_reported(stall, parity_memories):  # noqa: F811
    config, rng = CONFIGS["tiny"], np.random.default_rng(4)
    dut, faults = BypassRows(config), []
    words = panel(config, rng, 20)

    async def program(ctx):
        await store(ctx, dut.bypass, 0, words, rng)
        flip(ctx, parity_memories[0], 7, 3)
        for reads in (1, 2):
            await start(ctx, dut, 0, len(words), False)
            await get(ctx, dut.o, len(words), rng, stall)
            await ctx.tick().repeat(2)
            assert len(faults) == reads

    run(dut, program, background=[count_cycles(dut.fault, faults)])
