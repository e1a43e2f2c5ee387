# SPDX-License-Identifier: BSD-2-Clause
"""CoreHost with the memory model, a weight bank, a row table and counters."""

import numpy as np
import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.core_host import CoreHost
from hypercast.rtl.registers import COUNTERS, CoreSpace, Space
from tests.bench import MemoryModel, run


class Core:
    """What the block is connected to, and the host's side of the window."""

    def __init__(self, config, rng, latency, stall):
        self.config, self._rng = config, rng
        self.dut = CoreHost(config)
        self.memory = MemoryModel(config, rng, latency, stall)
        self.weights = [0] * config.weight_rows
        self.rows = [0] * config.row_counts
        self.counters = [int(value) for value in rng.integers(1 << 32, size=len(COUNTERS))]
        self.background = [
            lambda ctx: self.memory.serve_read(ctx, self.dut.read),
            lambda ctx: self.memory.serve_write(ctx, self.dut.write),
            self._serve]

    async def _serve(self, ctx):
        """Weight bank, row table and counters, with one cycle of latency."""
        dut = self.dut
        request, write = dut.weights.request, dut.weights_write
        while True:
            ctx.set(request.ready, self._rng.random() < 0.5)
            ctx.set(write.ready, self._rng.random() < 0.5)
            _, _, reading, row, writing, new, counter, rows_write, index, count = (
                await ctx.tick().sample(
                    request.valid & request.ready, request.payload, write.valid & write.ready,
                    write.payload, dut.counter_address, dut.rows_write, dut.rows_index,
                    dut.rows_write_data))
            ctx.set(dut.weights.data, self.weights[row] if reading else 0)
            ctx.set(dut.rows_data, self.rows[index])
            ctx.set(dut.counter_data, self.counters[counter] if counter < len(COUNTERS) else 0)
            if writing:
                self.weights[new.index] = new.payload
            if rows_write:
                self.rows[index] = count

    async def access(self, ctx, core, space, address, write=None, patience=400,
                     all_cores=0):
        """The answer to an access, or None."""
        dut = self.dut
        ctx.set(dut.request, {"core": core, "all_cores": all_cores, "space": space,
                              "address": address,
                              "write": write is not None, "data": write or 0})
        ctx.set(dut.request_valid, 1)
        await ctx.tick()
        ctx.set(dut.request_valid, 0)
        for _ in range(patience):
            if ctx.get(dut.response_valid):
                answer = ctx.get(dut.response)
                await ctx.tick()
                assert not ctx.get(dut.response_valid) and not ctx.get(dut.response)
                return answer
            assert not ctx.get(dut.response)
            await ctx.tick()
        return None


@pytest.mark.parametrize(("preset", "element_width", "latency", "stall"), [
    ("tiny", 8, 1, 0.0), ("tiny", 16, 7, 0.3), ("test", 16, 1, 0.3), ("cora", 16, 20, 0.0)])
def test_memories(preset, element_width, latency, stall):
    config = PRESETS[preset].replace(element_width=element_width, channel_words=64,
                                     weight_rows=16)
    rng = np.random.default_rng(latency)
    core = Core(config, rng, latency, stall)
    chunks, own = config.chunks, config.cores - 1

    def words(values):
        return sum(int(value) << 32 * index for index, value in enumerate(values))

    async def bench(ctx):
        ctx.set(core.dut.core, own)
        spaces = {Space.FEATURES: (core.memory.channels[0], 64, config.word_width),
                  Space.GRADIENTS: (core.memory.channels[1], 64, config.word_width),
                  Space.WEIGHTS: (core.weights, 16, config.data_width)}
        for _ in range(20):
            space = list(spaces)[rng.integers(3)]
            memory, depth, width = spaces[space]
            row = int(rng.integers(depth))
            pieces = [int(piece) for piece in rng.integers(1 << 32, size=chunks)]
            before = memory[row]
            for index, piece in enumerate(pieces):
                assert memory[row] == before, "a word is written with its last piece"
                assert await core.access(ctx, own, space, row * chunks + index, piece) is not None
            assert memory[row] == words(pieces) & (1 << width) - 1
            for index in rng.permutation(chunks):
                expected = memory[row] >> 32 * int(index) & 0xFFFFFFFF
                answer = await core.access(ctx, own, space, row * chunks + int(index))
                assert answer == expected
        snapshot = [list(memory) for memory, _, _ in spaces.values()]
        for space, (_, depth, _) in spaces.items():
            for address in (depth * chunks, 1 << 31):
                assert await core.access(ctx, own, space, address, patience=100) is None
                assert await core.access(ctx, own, space, address, 1, patience=100) is None
            last = chunks - 1
            assert await core.access(ctx, own ^ 1, space, last, 1, patience=100) is None
            assert await core.access(ctx, own + config.cores, space, last, 1, patience=100) is None
        assert snapshot == [list(memory) for memory, _, _ in spaces.values()]

    run(core.dut, bench, background=core.background)


def test_core_space():
    core = Core(PRESETS["tiny"], np.random.default_rng(0), 1, 0.0)

    async def bench(ctx):
        for index in range(core.config.row_counts):
            address = CoreSpace.ROWS + index
            assert await core.access(ctx, 0, Space.CORE, address, 1000 * index) is not None
        assert core.rows == [1000 * index for index in range(core.config.row_counts)]
        for index in range(core.config.row_counts):
            assert await core.access(ctx, 0, Space.CORE, CoreSpace.ROWS + index) == 1000 * index
        for index, value in enumerate(core.counters):
            assert await core.access(ctx, 0, Space.CORE, CoreSpace.COUNTERS + index) == value
        for address in (CoreSpace.ROWS + core.config.row_counts, CoreSpace.COUNTERS - 1,
                        CoreSpace.COUNTERS + len(COUNTERS), 1 << 20):
            assert await core.access(ctx, 0, Space.CORE, address, patience=50) is None
        assert await core.access(ctx, 0, Space.CORE, CoreSpace.COUNTERS, 1, patience=50) is None
        for space in (Space.PROGRAM, Space.TENSORS, 6, 7):
            assert await core.access(ctx, 0, space, 0, patience=50) is None
        assert core.rows == [1000 * index for index in range(core.config.row_counts)]

    run(core.dut, bench, background=core.background)


def test_requests_to_all_cores():
    """They are for this one, too, whatever core they name."""
    core = Core(PRESETS["tiny"], np.random.default_rng(0), 1, 0.0)

    async def bench(ctx):
        for other in (0, 1, 63):
            assert await core.access(ctx, other, Space.CORE, 5, 100 + other,
                                     all_cores=1) is not None
            assert core.rows[5] == 100 + other
            assert await core.access(ctx, other, Space.CORE, 5, all_cores=1) == 100 + other
        assert await core.access(ctx, 1, Space.CORE, 5, patience=50) is None

    run(core.dut, bench, background=core.background)


def test_core_of_a_chip_with_one():
    core = Core(PRESETS["tiny"].replace(dimensions=0), np.random.default_rng(0), 1, 0.0)

    async def bench(ctx):
        assert await core.access(ctx, 0, Space.FEATURES, 5, 77) is not None
        assert await core.access(ctx, 1, Space.FEATURES, 5, patience=50) is None
        assert await core.access(ctx, 0, Space.FEATURES, 5) == 77

    run(core.dut, bench, background=core.background)
