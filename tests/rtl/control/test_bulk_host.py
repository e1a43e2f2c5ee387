# SPDX-License-Identifier: BSD-2-Clause
"""BulkHost: the space of row counts and counters, and requests that are not for it."""

from itertools import pairwise

import numpy as np
import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.bulk_host import ROOM, BulkHost
from hypercast.rtl.layouts import bulk_width
from hypercast.rtl.registers import COUNTERS, CoreSpace, Space
from tests.bench import MemoryModel, run


class Core:
    """What the block is connected to, and who sends requests."""

    def __init__(self, preset, **changes):
        self.config = PRESETS[preset].replace(**changes)
        self.dut = BulkHost(self.config)
        self.memory = MemoryModel(self.config, np.random.default_rng(0), 5, 0.3)
        self.rows = [0] * self.config.row_counts
        self.taken = 0
        self.background = [
            lambda ctx: self.memory.serve_read(ctx, self.dut.read),
            lambda ctx: self.memory.serve_write(ctx, self.dut.write), self._serve, self._count]

    async def _serve(self, ctx):
        dut = self.dut
        while True:
            _, _, counter, write, index, count = await ctx.tick().sample(
                dut.counter_address, dut.rows_write, dut.rows_index, dut.rows_write_data)
            ctx.set(dut.counter_data, 1000 + counter)
            ctx.set(dut.rows_data, self.rows[index])
            if write:
                self.rows[index] = count

    async def _count(self, ctx):
        while True:
            _, _, taken = await ctx.tick().sample(self.dut.taken)
            self.taken += taken

    async def send(self, ctx, core, space, address, write=None, bulk=0, all_cores=0):
        ctx.set(self.dut.request, {"core": core, "all_cores": all_cores, "space": space,
                                   "address": address,
                                   "write": write is not None, "bulk": bulk, "data": write or 0})
        ctx.set(self.dut.request_valid, 1)
        await ctx.tick()
        ctx.set(self.dut.request_valid, 0)

    async def access(self, ctx, *arguments, **more):
        """The answer to an access of the window, or None."""
        await self.send(ctx, *arguments, **more)
        for _ in range(60):
            if ctx.get(self.dut.response_valid):
                return ctx.get(self.dut.response)
            assert not ctx.get(self.dut.response)
            await ctx.tick()
        return None


def test_core_space():
    core = Core("tiny")

    async def bench(ctx):
        for index in range(core.config.row_counts):
            assert await core.access(
                ctx, 0, Space.CORE, CoreSpace.ROWS + index, 1000 * index) is not None
        for index in range(core.config.row_counts):
            assert await core.access(ctx, 0, Space.CORE, CoreSpace.ROWS + index) == 1000 * index
        for index in range(len(COUNTERS)):
            assert await core.access(ctx, 0, Space.CORE, CoreSpace.COUNTERS + index) == 1000 + index
        assert core.rows == [1000 * index for index in range(core.config.row_counts)]

    run(core.dut, bench, background=core.background)


@pytest.mark.parametrize("preset", ["tiny", "cora"])
def test_what_is_not_there_is_taken_and_gets_no_answer(preset):
    core = Core(preset, dimensions=1, channel_words=64, weight_rows=16)
    chunks = core.config.chunks
    nowhere = [
        (Space.CORE, CoreSpace.ROWS + core.config.row_counts), (Space.CORE, CoreSpace.COUNTERS - 1),
        (Space.CORE, CoreSpace.COUNTERS + len(COUNTERS)), (Space.CORE, 1 << 20),
        (Space.FEATURES, 64 * chunks), (Space.GRADIENTS, 1 << 31), (Space.WEIGHTS, 16 * chunks),
        (Space.WEIGHTS, 1 << 30), (Space.PROGRAM, 0), (Space.TENSORS, 0), (6, 0), (7, 0)]

    async def bench(ctx):
        for space, address in nowhere:
            for write in (None, 1):
                assert await core.access(ctx, 0, space, address, write) is None
        assert await core.access(ctx, 0, Space.CORE, CoreSpace.COUNTERS, 1) is None
        assert core.taken == 2 * len(nowhere) + 1
        for other in (1, 2, 63):
            assert await core.access(ctx, other, Space.FEATURES, 0) is None
        assert core.taken == 2 * len(nowhere) + 1

    run(core.dut, bench, background=core.background)
    assert not any(core.memory.channels[0]) and not any(core.rows)


@pytest.mark.parametrize("preset", ["tiny", "kv260", "vcu128"])
def test_words_are_read_after_they_were_written(preset):
    """By the window a part that has the piece that is named; by the bulk port all parts of a run.

    A read that comes at once after writes sees them.
    """
    core = Core(preset, dimensions=1, channel_words=64)
    config, width, run_length = core.config, bulk_width(core.config), 5
    parts = config.word_width // width
    rng = np.random.default_rng(1)
    values = [[int.from_bytes(rng.bytes(width // 8)) for _ in range(parts)]
              for _ in range(run_length)]

    async def bench(ctx):
        for row, word in enumerate(values[:2]):
            for part, value in enumerate(word):
                await core.send(ctx, 0, Space.FEATURES, (row * parts + part) * width // 32, value,
                                bulk=1)
        for row, word in enumerate(values[:2]):
            for piece in range(config.chunks):
                found = await core.access(ctx, 0, Space.FEATURES, row * config.chunks + piece)
                assert found == word[piece * 32 // width]
        core.memory.channels[1][3:3 + run_length] = [
            sum(value << width * part for part, value in enumerate(word)) for word in values]
        ctx.set(core.dut.request, {"space": Space.GRADIENTS, "address": 3 * config.chunks,
                                   "bulk": 1, "data": run_length})
        ctx.set(core.dut.request_valid, 1)
        await ctx.tick()
        ctx.set(core.dut.request_valid, 0)
        answers = []
        for _ in range(200):
            _, _, valid, value = await ctx.tick().sample(
                core.dut.response_valid, core.dut.response)
            answers += [value] * valid
        assert answers == [value for word in values for value in word]

    run(core.dut, bench, background=core.background)


def test_writes_have_settled_whatever_others_write():
    """Once memory was idle after the last of them."""
    core = Core("kv260", dimensions=1, channel_words=64)
    dut = core.dut
    core.background = core.background[2:]  # memory is the test's

    async def settled(ctx):
        await ctx.tick().repeat(4)
        return ctx.get(dut.settled)

    async def bench(ctx):
        ctx.set(dut.write.idle, 0)  # of another's writes
        assert await settled(ctx)
        ctx.set(dut.write.request.ready, 1)
        await core.send(ctx, 0, Space.FEATURES, 0, 5, bulk=1)
        assert not await settled(ctx)
        ctx.set(dut.write.idle, 1)
        await ctx.tick()
        ctx.set(dut.write.idle, 0)
        assert await settled(ctx)

    run(dut, bench, background=core.background)


def test_a_channel_that_is_held_gets_no_word():
    core = Core("kv260", dimensions=1, channel_words=64)

    async def bench(ctx):
        ctx.set(core.dut.hold, 0b10)
        await core.send(ctx, 0, Space.GRADIENTS, 0, 7, bulk=1)
        await ctx.tick().repeat(100)
        assert not core.memory.channels[1][0] and not ctx.get(core.dut.settled)
        ctx.set(core.dut.hold, 0b01)
        await ctx.tick().repeat(50)
        assert core.memory.channels[1][0] == 7 and ctx.get(core.dut.settled)

    run(core.dut, bench, background=core.background)


@pytest.mark.parametrize("preset", ["tiny", "kv260", "cora"])
def test_a_channel_that_is_read_gets_a_word_now_and_then(preset):
    """After one, there are three cycles in which none begins; without readers there are not."""
    core = Core(preset, dimensions=1, channel_words=64)
    parts = core.config.word_width // bulk_width(core.config)
    words = ROOM // parts
    moments = []

    async def watch(ctx):
        ctx.set(core.dut.write.idle, 1)
        ctx.set(core.dut.write.request.ready, 1)
        cycle = 0
        while True:
            _, _, valid = await ctx.tick().sample(core.dut.write.request.valid)
            cycle += 1
            if valid:
                moments.append(cycle)

    async def bench(ctx):
        for shared, distance in ((0b00, parts), (0b01, parts), (0b10, parts + 3)):
            ctx.set(core.dut.shared, shared)
            moments.clear()
            for index in range(words * parts):
                await core.send(ctx, 0, Space.GRADIENTS, index * core.config.chunks // parts,
                                index + 1, bulk=1)
            await ctx.tick().repeat(8 * ROOM)
            assert len(moments) == words
            assert {after - one for one, after in pairwise(moments)} == {distance}

    run(core.dut, bench, background=[watch])


def test_requests_to_all_cores():
    """They are for this one, too, and take no room that is counted."""
    core = Core("tiny")

    async def bench(ctx):
        for other in (0, 1, 63):
            assert await core.access(ctx, other, Space.CORE, 5, 100 + other,
                                     all_cores=1) is not None
            assert await core.access(ctx, other, Space.CORE, 5, all_cores=1) == 100 + other
            assert core.rows[5] == 100 + other
        assert core.taken == 0

    run(core.dut, bench, background=core.background)


def test_room():
    """Requests that come at once are all carried out, and ``settled`` tells when they are."""
    core = Core("kv260", dimensions=1, channel_words=64)

    async def bench(ctx):
        for index in range(ROOM):
            await core.send(ctx, 0, Space.GRADIENTS, 4 * index, index + 1, bulk=1)
        await ctx.tick().repeat(3)
        while not ctx.get(core.dut.settled):
            await ctx.tick()
        assert core.memory.channels[1][:ROOM].tolist() == list(range(1, ROOM + 1))
        assert core.taken == ROOM

    run(core.dut, bench, background=core.background)
