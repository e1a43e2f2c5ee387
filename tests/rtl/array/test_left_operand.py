# SPDX-License-Identifier: BSD-2-Clause
"""LeftOperand gives the words of dense and word-sparse operands, from memory and kept before."""

import pytest

from hypercast.rtl.array.left_operand import LeftOperand
from hypercast.rtl.isa import OperandSource
from tests.bench import get, run, shared
from tests.rtl.array import test_operand_feed
from tests.rtl.array.test_operand_feed import CONFIGS
from tests.rtl.flips import count_cycles, flip, parity_memories  # noqa: F401
from tests.rtl.storing import store

MEMORY, FILL, BUFFER = OperandSource


class Bench(test_operand_feed.Bench):
    """An operand with memory."""

    def __init__(self, name="tiny", latency=1, stall=0.0, operand=None):
        self.operand = operand or shared(LeftOperand, CONFIGS[name])
        super().__init__(name, latency, stall, self.operand)
        self.requests = 0  # of words, not of the index

    async def start(self, ctx, job):
        ctx.set(self.operand.job, job)
        ctx.set(self.operand.start, 1)
        await ctx.tick()
        ctx.set(self.operand.start, 0)

    async def check(self, ctx, job, left):
        """Carry out a job; nothing follows its words."""
        self.requests = 0
        await self.start(ctx, job)
        expected = [(row, word, number == len(panel) - 1) for panel in left
                    for number, (row, word) in enumerate(panel)]
        found = await get(ctx, self.operand.o, len(expected), self.rng, self._stall)
        assert [(word.row, word.word, word.last) for word in found] == expected
        ctx.set(self.operand.o.ready, 1)
        for _ in range(8):
            _, _, valid = await ctx.tick().sample(self.operand.o.valid)
            assert not valid
        ctx.set(self.operand.o.ready, 0)
        assert (self.requests == 0) == (
            job.get("operand") == BUFFER or job.get("ones", 0) or not left)

    async def _count(self, ctx):
        request = self.operand.port.request
        while True:
            _, _, valid, ready = await ctx.tick().sample(request.valid, request.ready)
            self.requests += valid and ready

    def run(self, program, background=()):
        run(self.operand, program, cycles=4000, background=[
            self._count, *background,
            lambda ctx: self.memory.serve_read(ctx, self.operand.port),
            lambda ctx: self.memory.serve_words(ctx, self.operand.index)])


@pytest.mark.parametrize("name,latency,stall", [
    ("tiny", 1, 0.0), ("single", 9, 0.3), ("test", 30, 0.1)])
def test_operands_one_after_the_other(name, latency, stall):
    """Each is given once more from the buffer, whatever memory then holds."""
    bench = Bench(name, latency, stall)

    async def program(ctx):
        for rows, panels, density in ((7, 3, 0.3), (1, 5, 1.0), (12, 2, 0.8), (3, 0, 0.5),
                                      (20, 1, 0.0)):
            for draw, more in ((bench.dense, bench.draw(50)), (bench.sparse, density)):
                bench.renew()
                job, left = draw(rows, panels, more)
                job |= {"operand_base": bench.draw(64), "operand_stride": rows}
                await bench.check(ctx, job | {"operand": FILL}, left)
                for source in (MEMORY, 3):
                    other, words = draw(rows, panels, more)
                    await bench.check(ctx, other | {"operand": source}, words)
                bench.renew()
                await bench.check(ctx, job | {"operand": BUFFER}, left)
            job, left = bench.ones(rows, panels)
            await bench.check(ctx, job, left)

    bench.run(program)


@pytest.mark.parametrize("chained", [0, 1])
def test_what_the_vector_unit_stores(chained):
    bench = Bench("test", stall=0.2)
    words = bench.words(25)
    stored = []

    async def program(ctx):
        while not chained and not stored:
            await ctx.tick()
        await ctx.tick().repeat(3)
        await bench.check(ctx, {"rows": len(words), "panels": 1, "operand": BUFFER,
                                "operand_base": 77, "chained": chained}, [
            [(5 + number, word) for number, word in enumerate(words)]])

    async def vector_unit(ctx):
        await store(ctx, bench.operand.bypass, 77, words, bench.rng, 0.5, first_row=5)
        stored.append(True)

    bench.run(program, [vector_unit])


def test_a_changed_word_is_reported(parity_memories):  # noqa: F811
    bench, faults = Bench(operand=LeftOperand(CONFIGS["tiny"])), []

    async def program(ctx):
        job, left = bench.dense(6, 2)
        job |= {"operand": FILL, "operand_base": 9, "operand_stride": 6}
        await bench.check(ctx, job, left)
        job["operand"] = BUFFER
        await bench.check(ctx, job, left)
        assert not faults
        flip(ctx, parity_memories[0], 9 + 6 + 3)
        await bench.start(ctx, job)
        await get(ctx, bench.operand.o, 12)
        await ctx.tick().repeat(2)
        assert len(faults) == 1

    bench.run(program, [count_cycles(bench.operand.fault, faults)])
