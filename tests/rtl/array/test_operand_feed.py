# SPDX-License-Identifier: BSD-2-Clause
"""OperandFeed against a list of what the array is to be fed."""

import numpy as np
import pytest

from hypercast.host.compiler.sparse_words import SparseWords
from hypercast.reference import arithmetic
from hypercast.rtl.array.operand_feed import OperandFeed
from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import RANK_WIDTH, OperandSource
from hypercast.rtl.placement import rank_of
from tests.bench import MemoryModel, get, run, shared
from tests.host.sparse_model import integers, stored_words
from tests.rtl.flips import count_cycles, flip, parity_memories  # noqa: F401
from tests.rtl.storing import store
from tests.rtl.vector.vector_bench import pack_list

CONFIGS = {"tiny": PRESETS["tiny"].replace(accumulator_rows=16),
           "single": PRESETS["tiny"].replace(dimensions=0, element_width=8, accumulator_rows=32),
           "test": PRESETS["test"].replace(accumulator_rows=32)}
MEMORY, FILL, BUFFER = OperandSource
PRESSURE = pytest.mark.parametrize("name,latency,stall", [
    ("tiny", 1, 0.0), ("single", 9, 0.2), ("test", 40, 0.0), ("test", 2, 0.5)])


class Bench:
    """A feed with memory. A left operand is a list of panels, which are lists of (row, word)."""

    def __init__(self, name="tiny", latency=1, stall=0.0, feed=None):
        self.config = CONFIGS[name]
        self.rng = np.random.default_rng(latency)
        self.feed = feed or shared(OperandFeed, self.config)
        self.memory = MemoryModel(self.config, self.rng, latency, stall)
        self.core = int(self.rng.integers(self.config.cores))
        self._stall = stall
        self.renew()

    def draw(self, limit):
        return int(self.rng.integers(limit))

    def words(self, count):
        """Random ones."""
        return (self.rng.integers(1 << 64, size=count, dtype=np.uint64)
                >> np.uint64(64 - self.config.data_width)).tolist()

    def renew(self):
        """All of memory is different from now on."""
        for channel in self.memory.channels:
            channel[:] = self.words(len(channel))

    def dense(self, rows, panels, row_start=0):
        """Fields of a dense left operand anywhere, and its panels."""
        channel, address, stride = self.draw(2), self.draw(500), self.draw(100)
        memory = self.memory.channels[channel].tolist()
        return {"rows": rows, "row_start": row_start, "panels": panels, "channel": channel,
                "address": address, "stride": stride}, [
            [(row_start + row, memory[address + panel * stride + row]) for row in range(rows)]
            for panel in range(panels)]

    def sparse(self, rows, panels, density, row_start=0):
        """The same, word-sparse; it is put into memory."""
        config = self.config
        values = self.rng.integers(1, 100, (rows, panels, config.lanes))
        kept = self.rng.random((rows, panels, 1)) < density
        sparse = SparseWords.of(
            np.where(kept, values, 0).reshape(rows, panels * config.lanes), config)
        address = self.draw(config.channel_words - len(sparse.words))
        index = sparse.index(address, config, 0, panels)
        index_address = self.draw(config.channel_words - len(index))
        words = integers(sparse.words)
        for channel, start, image in ((0, address, words), (1, index_address, integers(index))):
            self.memory.channels[channel][start:start + len(image)] = image
        ends = np.cumsum(sparse.sizes).tolist()
        return {"rows": rows, "row_start": row_start, "panels": panels, "sparse": 1,
                "address": index_address}, [
            [(row_start + row, words[begin + number] & (1 << config.data_width) - 1)
             for row, number in stored_words(sparse.words[begin:end], config)]
            for begin, end in zip([0, *ends], ends, strict=False)]

    def ones(self, rows, panels, row_start=0):
        """The same, of ones."""
        return {"rows": rows, "row_start": row_start, "panels": panels, "ones": 1,
                "stride": rows + self.draw(5)}, [
            [(row_start + row, 1) for row in range(rows)]] * panels

    def right(self):
        """Fields of a right operand anywhere."""
        return {"gradient": 1, "gradient_channel": self.draw(2),
                "gradient_address": self.draw(1000)}

    def dropout(self):
        """Fields of some dropout."""
        return {"dropout": 1, "threshold": self.draw(1 << 16), "key": self.draw(1 << 32),
                "panel": self.draw(1 << 13)}

    def ranked(self, rows):
        """Fields of dropout by ranks that are in memory, anywhere."""
        config = self.config
        self.ranks = self.rng.integers(1 << RANK_WIDTH, size=rows)
        words = pack_list(self.ranks, RANK_WIDTH, config.word_width)
        address = self.draw(config.channel_words - len(words))
        self.memory.channels[1][address:address + len(words)] = words
        return self.dropout() | {"ranked": 1, "ranks": address}

    def _masked(self, word, row, panel, job):
        if not job.get("dropout"):
            return word
        lanes, width = self.config.lanes, self.config.element_width
        keep = arithmetic.keep_mask(
            job["key"], job["threshold"], [
                self.ranks[row - job.get("row_start", 0)] if job.get("ranked")
                else rank_of(self.core, row, self.config.cores)],
            (job["panel"] + panel) * lanes + np.arange(lanes))
        return word & sum(int(bit) * ((1 << width) - 1) << width * lane
                          for lane, bit in enumerate(keep))

    def _right_word(self, job, panel, row, bypassed):
        if bypassed:
            return bypassed[row]
        start = job["gradient_address"] + (panel * job["stride"] if job.get("ones") else 0)
        return self.memory.channels[job["gradient_channel"]][
            start + row - job.get("row_start", 0)]

    def beats(self, job, left, bypassed=None):
        """Everything there is to be fed: (left, right, row), first, closes."""
        gradient, found = job.get("gradient", 0), []
        for panel, words in enumerate(left):
            closes = gradient and panel > 0
            operands = [(self._masked(word, row, panel, job),
                         self._right_word(job, panel, row, bypassed) if gradient else None,
                         (row - job.get("row_start", 0)) % self.config.accumulator_rows)
                        for row, word in words]
            if gradient and not operands:
                operands = [None]
            found += [(one, number == 0, closes and number == 0)
                      for number, one in enumerate(operands)]
        if gradient:
            found.append((None, True, len(left) > 0))
        return found

    async def start(self, ctx, job):
        assert not ctx.get(self.feed.busy)
        ctx.set(self.feed.core, self.core)
        ctx.set(self.feed.job, job)
        ctx.set(self.feed.start, 1)
        await ctx.tick()
        ctx.set(self.feed.start, 0)

    async def check(self, ctx, job, left, *, bypassed=None):
        """Carry out a job, and wait for its end."""
        feed = self.feed
        expected = self.beats(job, left, bypassed)
        await self.start(ctx, job)
        assert ctx.get(feed.busy) or not expected
        found = await get(ctx, feed.o, len(expected), self.rng, self._stall)
        assert [((beat.left, beat.right if job.get("gradient") else None, beat.row)
                 if beat.word else None, beat.first, beat.closes) for beat in found] == expected
        while ctx.get(feed.busy):
            assert job.get("gradient")  # what is left of the right operand is read
            await ctx.tick()

    async def _watch(self, ctx):
        feed = self.feed
        while True:
            _, _, valid, busy = await ctx.tick().sample(feed.o.valid, feed.busy)
            assert busy or not valid

    def run(self, program, background=()):
        feed = self.feed
        run(feed, program, cycles=4000, background=[
            self._watch, *background,
            *(lambda ctx, port=port: self.memory.serve_read(ctx, port)
              for port in (feed.left, feed.right, feed.index))])


@PRESSURE
def test_random_jobs(name, latency, stall):
    """Dense, word-sparse, and ones, with and without dropout, from memory and kept before."""
    bench = Bench(name, latency, stall)
    entries = bench.config.operand_words

    async def program(ctx):
        for kind in (0, 1, 0, 2, 1, 0, 1):
            bench.renew()
            rows, panels = 1 + bench.draw(bench.config.accumulator_rows), 1 + bench.draw(4)
            gradient = kind == 2 or bench.draw(2)
            start = bench.draw(100)
            if kind == 0:
                job, left = bench.dense(rows, panels, start)
            elif kind == 1:
                job, left = bench.sparse(rows, panels, bench.rng.random(), start)
            else:
                job, left = bench.ones(rows, panels, start)
            words = rows * panels if kind == 0 else sum(map(len, left))
            keeps = kind < 2 and words <= entries
            job |= {"operand": FILL if keeps else (MEMORY, 3)[bench.draw(2)],
                    "operand_base": bench.draw(entries), "operand_stride": rows}
            for again in range(1 + keeps):
                if again:
                    bench.renew()
                    job["operand"] = BUFFER
                    gradient = not gradient
                more = (bench.right() if gradient else {}) | (
                    bench.dropout() if bench.draw(2) else {})
                await bench.check(ctx, job | more, left)

    bench.run(program)


@PRESSURE
def test_no_rows_and_no_panels(name, latency, stall):
    """And what comes right after them."""
    bench = Bench(name, latency, stall)

    async def program(ctx):
        for rows, panels in ((0, 2), (3, 0), (0, 0), (1, 1), (0, 1), (2, 3)):
            for _ in range(2):
                job, left = bench.dense(rows, panels)
                await bench.check(ctx, job | bench.dropout(), left)
                await bench.check(ctx, job | bench.right(), left)
                job, left = bench.ones(rows, panels)
                await bench.check(ctx, job | bench.right(), left)

    bench.run(program)


@PRESSURE
def test_ranks_in_memory(name, latency, stall):
    """Lists of any length, read again for each panel; jobs with other lists, or none, between."""
    bench = Bench(name, latency, stall)

    async def program(ctx):
        for number, (rows, panels) in enumerate(((5, 3), (8, 1), (1, 4), (0, 2), (3, 0), (16, 2))):
            bench.renew()
            gradient = number % 2
            dropout, right = bench.ranked(rows), bench.right() if gradient else {}
            job, left = bench.dense(rows, panels, bench.draw(100))
            job |= {"operand": FILL, "operand_stride": rows}
            await bench.check(ctx, job | dropout | right, left)
            await bench.check(ctx, job | dropout | right | {"operand": BUFFER}, left)
            other, words = bench.sparse(rows, panels, 0.5) if rows else bench.dense(0, panels)
            await bench.check(ctx, other | bench.dropout(), words)

    bench.run(program)


def test_the_right_operand_is_read_to_its_end():
    """Though no more than its first row is wanted; the next job finds nothing of it."""
    bench = Bench("tiny", 30)

    async def program(ctx):
        for _ in range(3):
            bench.renew()
            job, left = bench.sparse(16, 1, 0.0)
            await bench.check(ctx, job | bench.right(), left)

    bench.run(program)


@pytest.mark.parametrize("idle,stall", [(0.0, 0.0), (0.5, 0.2)])
def test_what_the_vector_unit_stores(idle, stall):
    """Left operands of MATMULs, right ones of GRADIENTs; also while it stores them."""
    bench = Bench("test", 3, stall)
    feed, to_store = bench.feed, []

    async def program(ctx):
        for rows in (12, 1, 20):
            for chained in (0, 1):
                bench.renew()
                left, right = bench.words(rows), bench.words(rows)
                to_store.extend([(feed.bypass_left, 9, left), (feed.bypass_right, 30, right)])
                await ctx.tick().repeat(3)
                while not chained and to_store:
                    await ctx.tick()
                kept = [list(enumerate(left))]
                await bench.check(ctx, {"rows": rows, "panels": 1, "operand": BUFFER,
                                        "operand_base": 9, "chained": chained}, kept)
                while len(to_store) > chained:
                    await ctx.tick()
                job, others = bench.dense(rows, 1)
                await bench.check(ctx, job | bench.dropout() | {
                    "gradient": 1, "bypassed": 1, "bypass_base": 30, "chained": chained},
                    others, bypassed=right)
                while to_store:
                    await ctx.tick()

    async def vector_unit(ctx):
        while True:
            if to_store:
                await store(ctx, *to_store[0], bench.rng, idle)
                to_store.pop(0)
            await ctx.tick()

    bench.run(program, [vector_unit])


@pytest.mark.parametrize("which", range(3), ids=["left", "right", "bypassed"])
def test_a_changed_word_is_reported(which, parity_memories):  # noqa: F811
    bench, faults = Bench(feed=OperandFeed(CONFIGS["tiny"])), []
    place = {"operand_base": 4, "operand_stride": 7}

    async def program(ctx):
        job, left = bench.dense(7, 2)
        right = bench.words(7)
        await store(ctx, bench.feed.bypass_right, 20, right, bench.rng)
        await bench.check(ctx, job | place | {"operand": FILL}, left)
        again = job | place | bench.right() | {"operand": BUFFER}
        bypassed = again | {"bypassed": 1, "bypass_base": 20}
        await bench.check(ctx, again, left)
        await bench.check(ctx, bypassed, left, bypassed=right)
        await ctx.tick().repeat(3)
        assert not faults
        if which == 1:  # after it has been read, before any but its first word is given
            await bench.start(ctx, again)
            await ctx.tick().repeat(40)
        flip(ctx, parity_memories[which], (4 + 7 + 2, 3, 20 + 6)[which], bench.config.data_width)
        if which != 1:
            await bench.start(ctx, bypassed if which == 2 else again)
        await get(ctx, bench.feed.o, 15, bench.rng)
        await ctx.tick().repeat(3)
        assert len(faults) == (2 if which else 1)

    bench.run(program, [count_cycles(bench.feed.fault, faults)])


@pytest.mark.parametrize("kind", ["dense", "dropout", "ranked", "gradient", "kept", "sparse"])
def test_a_beat_every_cycle(kind):
    bench = Bench()

    async def program(ctx):
        job, left = bench.sparse(16, 4, 1.0) if kind == "sparse" else bench.dense(16, 4)
        if kind == "kept":
            job |= {"operand": FILL, "operand_stride": 16}
            await bench.check(ctx, job, left)
            job["operand"] = BUFFER
        job |= bench.dropout() if kind == "dropout" else {}
        job |= bench.ranked(16) if kind == "ranked" else {}
        job |= bench.right() if kind == "gradient" else {}
        await bench.start(ctx, job)
        ctx.set(bench.feed.o.ready, 1)
        cycles = 0
        while ctx.get(bench.feed.busy):
            cycles += 1
            await ctx.tick()
        assert cycles <= 64 + (64 // 2 + 30 if kind == "sparse" else 20)

    bench.run(program)
