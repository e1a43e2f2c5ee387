# SPDX-License-Identifier: BSD-2-Clause
"""SparsePanels: the words and rows of word-sparse matrices, whose index lies in memory."""

import numpy as np
import pytest

from hypercast.host.compiler.sparse_words import SparseWords
from hypercast.rtl.array.sparse_panels import SparsePanels
from hypercast.rtl.config import PRESETS
from tests.bench import MemoryModel, get, put, run, shared
from tests.host.sparse_model import integers, stored_words

CONFIGS = {"tiny": PRESETS["tiny"], "bytes": PRESETS["test"].replace(element_width=8),
           "wide": PRESETS["test"].replace(lanes=16)}


class Bench:
    """Panels with a memory, and a reader of words that has one of its own."""

    def __init__(self, name="tiny", latency=1, idle=0.0, stall=0.0):
        self.config = CONFIGS[name]
        self.rng = np.random.default_rng(latency)
        self.panels = shared(SparsePanels, self.config)
        self.memory = MemoryModel(self.config, self.rng, latency, stall)
        self._idle, self._stall = idle, stall
        self._words, self.brings = [], True
        self.commands = 0

    def store(self, density, rows, panels):
        """Put a random matrix and its index anywhere; the job, and the words that it must give."""
        config, row_start = self.config, int(self.rng.integers(200))
        values = self.rng.integers(1, 100, (rows, panels, config.lanes))
        kept = self.rng.random((rows, panels, 1)) < density
        sparse = SparseWords.of(
            np.where(kept, values, 0).reshape(rows, panels * config.lanes), config)
        address = int(self.rng.integers(config.channel_words - len(sparse.words)))
        index = sparse.index(address, config, 0, panels)
        index_address = int(self.rng.integers(config.channel_words - len(index)))
        words, end, expected = integers(sparse.words), 0, []
        for channel, start, image in ((0, address, words), (1, index_address, integers(index))):
            self.memory.channels[channel][start:start + len(image)] = image
        for size in sparse.sizes.tolist():
            pairs = stored_words(sparse.words[end:end + size], config)
            expected += [(words[end + number] & (1 << config.data_width) - 1, row_start + row,
                          last == 1)
                         for last, (row, number) in zip(
                             range(len(pairs), 0, -1), pairs, strict=True)]
            end += size
        return {"sparse": 1, "address": index_address, "panels": panels, "rows": rows,
                "row_start": row_start}, expected

    async def start(self, ctx, job):
        ctx.set(self.panels.job, job)
        ctx.set(self.panels.start, 1)
        await ctx.tick()
        ctx.set(self.panels.start, 0)

    async def check(self, ctx, density, rows, panels):
        job, expected = self.store(density, rows, panels)
        await self.start(ctx, job)
        found = await get(ctx, self.panels.o, len(expected), self.rng, self._stall)
        assert [(word.word, word.row, word.last) for word in found] == expected
        ctx.set(self.panels.o.ready, 1)
        for _ in range(10):
            _, _, valid = await ctx.tick().sample(self.panels.o.valid)
            assert not valid
        ctx.set(self.panels.o.ready, 0)

    async def _read(self, ctx):
        while True:
            [command] = await get(ctx, self.panels.commands, 1, self.rng, self._stall)
            self.commands += 1
            self._words += self.memory.channels[command.channel][
                command.address:command.address + command.count].tolist()

    async def _bring(self, ctx):
        while True:
            words = []
            if self.brings:
                words, self._words = self._words, []
            await put(ctx, self.panels.words, words, self.rng, self._idle)
            if not self._words or not self.brings:
                await ctx.tick()

    def run(self, program):
        run(self.panels, program, cycles=2000, background=[
            self._read, self._bring, lambda ctx: self.memory.serve_words(ctx, self.panels.index)])


@pytest.mark.parametrize("name,latency,idle,stall", [
    ("tiny", 1, 0.0, 0.0), ("tiny", 9, 0.3, 0.3), ("bytes", 2, 0.0, 0.5), ("wide", 20, 0.4, 0.0)])
def test_matrices_one_after_the_other(name, latency, idle, stall):
    bench = Bench(name, latency, idle, stall)

    async def program(ctx):
        for density, rows, panels in ((0.3, 20, 5), (0.0, 9, 3), (1.0, 17, 2), (0.5, 1, 1),
                                      (0.1, 30, 7)):
            await bench.check(ctx, density, rows, panels)

    bench.run(program)


def test_commands_run_ahead_of_words():
    """By sixteen panels, besides that whose words are taken; then they wait."""
    bench = Bench()

    async def program(ctx):
        bench.brings = False
        job, expected = bench.store(0.0, 3, 40)
        await bench.start(ctx, job)
        await ctx.tick().repeat(300)
        assert bench.commands == 17
        bench.brings = True
        found = await get(ctx, bench.panels.o, len(expected))
        assert [(word.word, word.row, word.last) for word in found] == expected
        assert bench.commands == 40

    bench.run(program)
