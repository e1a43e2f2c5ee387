# SPDX-License-Identifier: BSD-2-Clause
"""OperandBuffer gives back what it was told to keep."""

from itertools import chain

import numpy as np
import pytest

from hypercast.rtl.array.operand_buffer import OperandBuffer
from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import OperandSource
from tests.bench import get, put, run
from tests.rtl.flips import count_cycles, flip, parity_memories  # noqa: F401
from tests.rtl.storing import store

CONFIGS = {"tiny": PRESETS["tiny"], "test": PRESETS["test"],
           "bytes": PRESETS["test"].replace(element_width=8)}
MEMORY, FILL, BUFFER = OperandSource


class Bench:
    """A buffer, and words for it."""

    def __init__(self, config, seed=0, idle=0.0, stall=0.0):
        self.rng = np.random.default_rng(seed)
        self.buffer = OperandBuffer(config)
        self._bytes = config.data_width // 8
        self._idle, self._stall = idle, stall
        self._incoming = []

    def panels(self, lengths):
        """Panels of words, some of whose rows are left out."""
        return [[{"word": int.from_bytes(self.rng.bytes(self._bytes), "little"),
                  "row": int(row), "last": int(i + 1 == length)}
                 for i, row in enumerate(np.sort(self.rng.choice(1000, length, replace=False)))]
                for length in lengths]

    async def start(self, ctx, source, panels, **job):
        """Begin an instruction; from memory come the words of ``panels``."""
        ctx.set(self.buffer.job, {"operand": source, "panels": len(panels), **job})
        ctx.set(self.buffer.start, 1)
        await ctx.tick()
        ctx.set(self.buffer.start, 0)
        if source != BUFFER:
            self._incoming = list(chain(*panels))

    async def check(self, ctx, source, panels, **job):
        """Run an instruction, which must give the words of ``panels`` and no more."""
        await self.start(ctx, source, panels, **job)
        expected = list(chain(*panels))
        found = await get(ctx, self.buffer.o, len(expected), self.rng, self._stall)
        assert [{name: getattr(word, name) for name in ("word", "row", "last")}
                for word in found] == expected
        ctx.set(self.buffer.o.ready, 1)
        for _ in range(4):
            _, _, valid = await ctx.tick().sample(self.buffer.o.valid)
            assert not valid
        ctx.set(self.buffer.o.ready, 0)

    async def store(self, ctx, base, words, idle=0.0):
        """The vector unit stores rows 5, 6, ..."""
        await store(ctx, self.buffer.bypass, base, words, self.rng, idle, first_row=5)

    def stored(self, rows):
        """Words of a panel as the vector unit stores it, and what comes out."""
        words = [int.from_bytes(self.rng.bytes(self._bytes), "little") for _ in range(rows)]
        return words, [{"word": word, "row": 5 + index, "last": int(index == rows - 1)}
                       for index, word in enumerate(words)]

    def run(self, program, background=()):
        async def memory(ctx):
            while True:
                words, self._incoming = self._incoming, []
                await put(ctx, self.buffer.i, words, self.rng, self._idle)
                await ctx.tick()

        run(self.buffer, program, background=[memory, *background])


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("idle,stall", [(0.0, 0.0), (0.4, 0.0), (0.0, 0.5), (0.3, 0.3)])
def test_several_operands(name, idle, stall):
    """A dense and a word-sparse operand side by side, written again, and one that is not kept."""
    bench = Bench(CONFIGS[name], idle=idle, stall=stall)
    dense = {"rows": 7, "operand_base": 2, "operand_stride": 8}
    sparse = {"rows": 99, "sparse": 1, "operand_base": 40, "operand_stride": 5}

    async def program(ctx):
        for _ in range(3):
            first, second = bench.panels([7] * 4), bench.panels([1, 9, 2, 1])
            other = bench.panels([7, 7])
            await bench.check(ctx, FILL, first, **dense)
            await bench.check(ctx, FILL, second, **sparse)
            await bench.check(ctx, MEMORY, other, **dense)
            await bench.check(ctx, BUFFER, first, **dense)
            await bench.check(ctx, BUFFER, second, **sparse)
            await bench.check(ctx, BUFFER, second[:2], **sparse)
            await bench.check(ctx, BUFFER, first[2:3], **dense | {"operand_base": 2 + 2 * 8})
            await bench.check(ctx, BUFFER, [], **dense)

    bench.run(program)


def test_entries_wrap():
    config = CONFIGS["tiny"]
    bench = Bench(config)
    place = {"rows": 10, "operand_base": config.operand_words - 15, "operand_stride": 11}

    async def program(ctx):
        panels = bench.panels([10] * 3)
        await bench.check(ctx, FILL, panels, **place)
        await bench.check(ctx, BUFFER, panels, **place)

    bench.run(program)


@pytest.mark.parametrize("job", [{"operand_stride": 6}, {"sparse": 1}], ids=["dense", "sparse"])
@pytest.mark.parametrize("rows", [1, 2, 6])
def test_a_word_every_cycle(job, rows):
    bench = Bench(CONFIGS["test"])
    job = job | {"rows": rows}

    async def program(ctx):
        panels = bench.panels([rows] * 5)
        o = bench.buffer.o
        for source in (MEMORY, FILL):
            await bench.start(ctx, source, panels, **job)
            ctx.set(o.ready, 1)
            seen = [(await ctx.tick().sample(o.valid))[2] for _ in range(5 * rows + 8)]
            begin = seen.index(1)
            assert all(seen[begin:begin + 5 * rows]) and sum(seen) == 5 * rows
            ctx.set(o.ready, 0)
        await bench.start(ctx, BUFFER, panels, **job)
        ctx.set(o.ready, 1)
        _, _, valid = await ctx.tick().sample(o.valid)
        assert not valid
        for expected in chain(*panels):
            _, _, valid, word = await ctx.tick().sample(o.valid, o.p)
            assert valid and word.word == expected["word"]

    bench.run(program)


@pytest.mark.parametrize("idle,stall", [(0.0, 0.0), (0.4, 0.0), (0.0, 0.5), (0.3, 0.3)])
def test_panels_that_the_vector_unit_stores(idle, stall):
    """Some before, one after the other, then used together."""
    bench = Bench(CONFIGS["test"], idle=idle, stall=stall)

    async def program(ctx):
        for rows in (6, 1, 9):
            stored = [bench.stored(rows) for _ in range(3)]
            for index, (words, _) in enumerate(stored):
                await bench.store(ctx, 20 + 10 * index, words, idle)
            place = {"rows": rows, "operand_base": 20, "operand_stride": 10}
            await bench.check(ctx, BUFFER, [panel for _, panel in stored], **place)

    bench.run(program)


@pytest.mark.parametrize("idle,stall", [(0.0, 0.0), (0.6, 0.0), (0.0, 0.5), (0.3, 0.3)])
@pytest.mark.parametrize("delay", [2, 3, 9])
def test_chained(idle, stall, delay):
    """An instruction takes a panel while the vector unit stores it."""
    bench = Bench(CONFIGS["test"], stall=stall)
    stored = [bench.stored(rows) for rows in (12, 1, 12, 5)]
    to_store = []

    async def program(ctx):
        for words, panel in stored:
            to_store.append(words)
            await ctx.tick().repeat(delay)
            await bench.check(ctx, BUFFER, [panel], rows=len(panel), operand_base=7, chained=1)
            while to_store:
                await ctx.tick()

    async def vector_unit(ctx):
        while True:
            if to_store:
                await bench.store(ctx, 7, to_store[0], idle)
                to_store.pop()
            await ctx.tick()

    bench.run(program, [vector_unit])


@pytest.mark.parametrize("source", [FILL, MEMORY, BUFFER])
@pytest.mark.parametrize("idle,stall", [(0.0, 0.0), (0.3, 0.0), (0.0, 0.5)])
def test_other_instructions_while_the_vector_unit_stores(source, idle, stall):
    bench = Bench(CONFIGS["test"], idle=idle, stall=stall)
    words, panel = bench.stored(40)
    begun = []

    async def program(ctx):
        place = {"rows": 20, "operand_base": 100, "operand_stride": 20}
        others = bench.panels([20] * 2)
        await bench.check(ctx, FILL, others, **place)
        begun.append(True)
        await bench.check(ctx, source, others, **place)
        while begun:
            await ctx.tick()
        await bench.check(ctx, BUFFER, others if source != MEMORY else [], **place)
        await bench.check(ctx, BUFFER, [panel], rows=40, operand_base=0)

    async def vector_unit(ctx):
        while not begun:
            await ctx.tick()
        await bench.store(ctx, 0, words, 0.3)
        begun.clear()
        while True:
            await ctx.tick()

    bench.run(program, [vector_unit])


@pytest.mark.parametrize("stall", [0.0, 0.5])
def test_a_changed_word_is_reported(stall, parity_memories):  # noqa: F811
    """Where it is taken from the buffer; what passes from memory is not looked at."""
    bench, faults = Bench(CONFIGS["test"], stall=stall), []
    place = {"rows": 7, "operand_base": 2, "operand_stride": 8}

    async def program(ctx):
        panels = bench.panels([7] * 3)
        await bench.check(ctx, FILL, panels, **place)
        flip(ctx, parity_memories[0], 2 + 8 + 4)
        await bench.start(ctx, BUFFER, panels, **place)
        await get(ctx, bench.buffer.o, 21, bench.rng, stall)
        await ctx.tick().repeat(3)
        assert len(faults) == 1
        await bench.check(ctx, FILL, panels, **place)
        await bench.check(ctx, BUFFER, panels, **place)
        assert len(faults) == 1

    bench.run(program, [count_cycles(bench.buffer.fault, faults)])
