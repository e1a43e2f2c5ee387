# SPDX-License-Identifier: BSD-2-Clause
"""MaskReader: the masks of rows, of which a memory word holds several."""

import numpy as np
import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.vector.mask_reader import MaskReader
from tests.bench import get, put, run, shared
from tests.rtl.vector.vector_bench import pack

CONFIGS = {"tiny": PRESETS["tiny"], "bytes": PRESETS["test"].replace(element_width=8),
           "wide": PRESETS["test"].replace(lanes=16)}
PRESSURE = pytest.mark.parametrize("name,idle,stall", [
    ("tiny", 0.0, 0.0), ("bytes", 0.4, 0.2), ("wide", 0.0, 0.5)])


class Bench:
    """A reader of masks, and a source of words."""

    def __init__(self, name="tiny", idle=0.0, stall=0.0):
        self.config = CONFIGS[name]
        self.rng = np.random.default_rng(0)
        self.reader = shared(MaskReader, self.config)
        self._idle, self._stall = idle, stall
        self.commands = []
        self._words = []

    async def start(self, ctx, masked, count, address=0):
        for name, value in {"masked": masked, "count": count, "address": address,
                            "start": 1}.items():
            ctx.set(getattr(self.reader, name), value)
        await ctx.tick()
        ctx.set(self.reader.start, 0)

    async def check(self, ctx, count):
        """Masks at a random place; those in the last word that are no row's are random, too."""
        lanes, per_word = self.config.lanes, self.config.mask_rows
        used = -(-count // per_word)
        masks = self.rng.integers(1 << lanes, size=used * per_word).tolist()
        self._words = [pack(masks[first:first + per_word], lanes)
                       for first in range(0, len(masks), per_word)]
        address = int(self.rng.integers(self.config.channel_words))
        await self.start(ctx, 1, count, address)
        assert await get(ctx, self.reader.o, count, self.rng, self._stall) == masks[:count]
        assert self.commands == [(1, address, used)]
        self.commands.clear()

    async def _source(self, ctx):
        source = self.reader.source
        while True:
            [command] = await get(ctx, source.command, 1, self.rng, self._stall)
            self.commands.append((command.channel, command.address, command.count))
            words, self._words = self._words, []
            await put(ctx, source.words, words, self.rng, self._idle)

    def run(self, program):
        run(self.reader, program, background=[self._source], cycles=5000)


@PRESSURE
def test_masks(name, idle, stall):
    """Run after run: what is left of a word belongs to none of the next run's rows."""
    bench = Bench(name, idle, stall)
    per_word = bench.config.mask_rows

    async def program(ctx):
        for count in (1, per_word - 1, per_word, per_word + 1, 2, 3 * per_word, 2 * per_word + 5):
            await bench.check(ctx, count)

    bench.run(program)


@PRESSURE
def test_without_masks(name, idle, stall):
    """All ones, always valid; nothing is read, and words of others are not waited for."""
    bench = Bench(name, idle, stall)
    everything = (1 << bench.config.lanes) - 1

    async def program(ctx):
        for count in (3, 40):
            await bench.start(ctx, 0, count)
            for cycle in range(count):
                ctx.set(bench.reader.o.ready, cycle % 3 > 0)
                _, _, valid, mask = await ctx.tick().sample(
                    bench.reader.o.valid, bench.reader.o.payload)
                assert valid and mask == everything
            ctx.set(bench.reader.o.ready, 0)
            assert not bench.commands
            await bench.check(ctx, count)

    bench.run(program)


def test_the_most_rows():
    """The command counts the words of as many rows as a DRAIN can have."""
    bench = Bench("wide")

    async def program(ctx):
        ctx.set(bench.reader.source.command.ready, 1)
        for count in ((1 << 15) - 1, (1 << 14) + 1, 0):
            await bench.start(ctx, 1, count)
            command = bench.reader.source.command
            assert ctx.get(command.valid)
            assert ctx.get(command.p.count) == -(-count // bench.config.mask_rows)
            await ctx.tick()
            assert not ctx.get(command.valid)

    run(bench.reader, program)
