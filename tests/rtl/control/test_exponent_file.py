# SPDX-License-Identifier: BSD-2-Clause
"""ExponentFile: both of its sides."""

import numpy as np

from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.exponent_file import ExponentFile
from hypercast.rtl.registers import Space
from tests.bench import run
from tests.rtl.flips import flip, parity_memories  # noqa: F401


def test_window_and_controller_see_the_same_entries():
    config = PRESETS["tiny"]
    rng = np.random.default_rng(0)
    dut = ExponentFile(config)
    entries = rng.integers(1 << 17, size=config.tensors)

    async def request(ctx, space, address, write=None):
        ctx.set(dut.request, {"space": space, "address": address,
                              "write": write is not None, "data": write or 0})
        ctx.set(dut.request_valid, 1)
        await ctx.tick()
        ctx.set(dut.request_valid, 0)
        assert not ctx.get(dut.response_valid)
        await ctx.tick()
        answer = ctx.get(dut.response_valid), ctx.get(dut.response)
        await ctx.tick()
        assert not ctx.get(dut.response_valid) and not ctx.get(dut.response)
        return answer

    async def bench(ctx):
        for tensor, entry in enumerate(entries):
            assert (await request(ctx, Space.TENSORS, tensor, int(entry)))[0]
        for tensor in rng.permutation(config.tensors):
            ctx.set(dut.read_tensor, int(tensor))
            await ctx.tick()
            assert ctx.get(dut.read_entry.as_value()) == entries[tensor]
        assert ctx.get(dut.read_entry.peak) in range(-128, 128)
        ctx.set(dut.write, 1)
        ctx.set(dut.write_tensor, 5)
        ctx.set(dut.write_entry, {"exponent": -3, "peak": -7, "valid": 1})
        await ctx.tick()
        ctx.set(dut.write, 0)
        entries[5] = 0xFD | 0xF9 << 8 | 1 << 16
        for tensor, entry in enumerate(entries):
            assert await request(ctx, Space.TENSORS, tensor) == (1, entry)
        assert await request(ctx, Space.TENSORS, config.tensors) == (0, 0)
        assert await request(ctx, Space.PROGRAM, 5, 99) == (0, 0)
        assert await request(ctx, Space.TENSORS, 5) == (1, entries[5])

    run(dut, bench)


def test_a_changed_entry_is_reported(parity_memories):  # noqa: F811
    dut = ExponentFile(PRESETS["tiny"])

    async def bench(ctx):
        [memory] = parity_memories
        for bit in range(18):
            flip(ctx, memory, 5, bit)
            for tensor in (4, 5, 6):
                ctx.set(dut.read_tensor, tensor)
                await ctx.tick()  # read
                await ctx.tick()
                assert ctx.get(dut.fault) == (tensor == 5)
            flip(ctx, memory, 5, bit)

    run(dut, bench)
