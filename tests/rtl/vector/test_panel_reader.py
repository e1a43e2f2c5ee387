# SPDX-License-Identifier: BSD-2-Clause
"""Tests of reading panels row by row."""

from collections import deque

import numpy as np
import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.layouts import BURST
from hypercast.rtl.vector.panel_reader import PanelReader
from tests.bench import get, put, run

_CONFIG = PRESETS["tiny"].replace(channel_words=16384)
_BASE, _STRIDE = 7, 60


def _read(matrices, rng=None, idle=0.0, stall=0.0, cycles=20_000):
    """Read matrices of (rows, panels), one after the other; the commands' word counts.

    The memory's words are their addresses.
    """
    dut = PanelReader(_CONFIG)
    addresses = deque()
    counts = []

    async def serve_commands(ctx):
        while True:
            [command] = await get(ctx, dut.source.command, 1, rng, stall)
            assert command.channel == 1
            counts.append(command.count)
            addresses.extend(range(command.address, command.address + command.count))

    async def serve_words(ctx):
        while True:
            while not addresses:
                await ctx.tick()
            await put(ctx, dut.source.words, [addresses.popleft()], rng, idle)

    async def read(ctx):
        for rows, panels in matrices:
            ctx.set(dut.rows, rows)
            ctx.set(dut.channel, 1)
            ctx.set(dut.base, _BASE)
            ctx.set(dut.stride, _STRIDE)
            ctx.set(dut.panels, panels)
            ctx.set(dut.start, 1)
            await ctx.tick()
            ctx.set(dut.start, 0)
            assert await get(ctx, dut.o, rows * panels, rng, stall) == [
                _BASE + panel * _STRIDE + row for row in range(rows) for panel in range(panels)]
            await ctx.tick().repeat(3)
            assert not ctx.get(dut.o.valid)

    run(dut, read, background=[serve_commands, serve_words], cycles=cycles)
    return counts


@pytest.mark.parametrize("idle, stall", [(0.0, 0.0), (0.5, 0.1), (0.1, 0.5)])
def test_order(idle, stall):
    matrices = [(0, 1), (1, 1), (16, 1), (33, 1), (17, 3), (48, 2), (1, 16), (20, 17), (5, 40),
                (3, 100), (2, 256), (1, 129)]
    _read(matrices, np.random.default_rng(0), idle, stall)


@pytest.mark.parametrize("panels", [1, 2, 3, 16])
def test_takes_a_word_per_cycle(panels):
    rows = 50
    _read([(rows, panels)], cycles=rows * panels + BURST * panels + 12)


@pytest.mark.parametrize("panels, longest", [(1, 16), (16, 16), (17, 8), (64, 4), (128, 2)])
def test_bursts(panels, longest):
    rows = 2 * longest + 1
    assert _read([(rows, panels)]) == [longest] * (2 * panels) + [1] * panels
