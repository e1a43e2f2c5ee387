# SPDX-License-Identifier: BSD-2-Clause
"""DensePanels gives the words that it asked for their rows, and says which one ends a panel."""

import numpy as np
import pytest

from hypercast.rtl.array.dense_panels import DensePanels
from hypercast.rtl.config import PRESETS
from tests.bench import get, put, run, shared

CONFIG = PRESETS["tiny"]


class Bench:
    """Panels, and a reader that brings a word of its own for each address."""

    def __init__(self, idle=0.0, stall=0.0):
        self.rng = np.random.default_rng(0)
        self.panels = shared(DensePanels, CONFIG)
        self._idle, self._stall = idle, stall
        self._commands = []
        self._words = []

    def word(self, channel, address):
        return (address * 0x9E3779B1 + channel * 0x85EBCA6B) % (1 << CONFIG.word_width)

    async def start(self, ctx, **job):
        ctx.set(self.panels.job, job)
        ctx.set(self.panels.start, 1)
        await ctx.tick()
        ctx.set(self.panels.start, 0)

    async def check(self, ctx, rows, panels, row_start=0, ones=0):
        """A job at a random place; nothing follows its words."""
        channel, address, stride = (int(self.rng.integers(high)) for high in (2, 600, 400))
        await self.start(ctx, rows=rows, panels=panels, row_start=row_start, ones=ones,
                         channel=channel, address=address, stride=stride)
        found = await get(ctx, self.panels.o, rows * panels, self.rng, self._stall)
        places = [(panel, row) for panel in range(panels) for row in range(rows)]
        assert [(word.word, word.row, word.last) for word in found] == [
            (1 if ones else self.word(channel, address + panel * stride + row),
             row_start + row, row == rows - 1) for panel, row in places]
        ctx.set(self.panels.o.ready, 1)
        for _ in range(6):
            _, _, valid = await ctx.tick().sample(self.panels.o.valid)
            assert not valid
        ctx.set(self.panels.o.ready, 0)
        assert self._commands == ([] if ones else [
            (channel, address + panel * stride, rows) for panel in range(panels)])
        self._commands.clear()

    async def _read(self, ctx):
        while True:
            [command] = await get(ctx, self.panels.commands, 1, self.rng, self._stall)
            self._commands.append((command.channel, command.address, command.count))
            self._words += [self.word(command.channel, command.address + row)
                            for row in range(command.count)]

    async def _bring(self, ctx):
        while True:
            words, self._words = self._words, []
            await put(ctx, self.panels.words, words, self.rng, self._idle)
            if not self._words:
                await ctx.tick()

    def run(self, program):
        run(self.panels, program, background=[self._read, self._bring], cycles=3000)


@pytest.mark.parametrize("idle,stall", [(0.0, 0.0), (0.4, 0.0), (0.0, 0.5), (0.3, 0.3)])
def test_jobs_one_after_the_other(idle, stall):
    bench = Bench(idle, stall)

    async def program(ctx):
        for rows, panels, row_start in ((5, 3, 0), (1, 4, 7), (2, 1, 100), (9, 2, 1), (3, 0, 5),
                                        (40, 2, 211), (1, 1, 0)):
            await bench.check(ctx, rows, panels, row_start)
            await bench.check(ctx, rows, panels, row_start, ones=1)

    bench.run(program)


@pytest.mark.parametrize("ones", [0, 1])
def test_a_word_every_cycle(ones):
    bench = Bench()

    async def program(ctx):
        await bench.start(ctx, rows=6, panels=5, stride=9, ones=ones)
        ctx.set(bench.panels.o.ready, 1)
        seen = [(await ctx.tick().sample(bench.panels.o.valid))[2] for _ in range(40)]
        begin = seen.index(1)
        assert sum(seen) == 30 and all(seen[begin:begin + 30]) and (begin == 0 or not ones)

    bench.run(program)


def test_words_are_left_to_others_if_none_is_read():
    """With ``ones``, nothing that the reader still has is taken."""
    bench = Bench()
    panels = bench.panels

    async def program(ctx):
        ctx.set(panels.words.valid, 1)
        ctx.set(panels.o.ready, 1)
        await bench.start(ctx, rows=3, panels=2, ones=1)
        for _ in range(10):
            _, _, ready, asks = await ctx.tick().sample(panels.words.ready, panels.commands.valid)
            assert not ready and not asks

    run(panels, program)
