# SPDX-License-Identifier: BSD-2-Clause
"""ProgramMemory: written and read in pieces, fetched in rows."""

import numpy as np

from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.program_memory import ProgramMemory
from hypercast.rtl.isa import INSTRUCTION_WORDS
from hypercast.rtl.registers import Space
from tests.bench import run
from tests.rtl.flips import flip, parity_memories  # noqa: F401


def test_pieces_make_rows():
    config = PRESETS["tiny"].replace(program_rows=16)
    rng = np.random.default_rng(0)
    dut = ProgramMemory(config)
    pieces = rng.integers(1 << 32, size=(config.program_rows, INSTRUCTION_WORDS))

    async def request(ctx, space, address, write=None):
        ctx.set(dut.request, {"space": space, "address": address,
                              "write": write is not None, "data": write or 0})
        ctx.set(dut.request_valid, 1)
        await ctx.tick()
        ctx.set(dut.request_valid, 0)
        assert not ctx.get(dut.response_valid)
        await ctx.tick()
        return ctx.get(dut.response_valid), ctx.get(dut.response)

    async def bench(ctx):
        for row, piece in rng.permutation(list(np.ndindex(pieces.shape))):
            address = 16 * int(row) + int(piece)
            assert (await request(ctx, Space.PROGRAM, address, int(pieces[row, piece])))[0]
        assert (await request(ctx, Space.PROGRAM, INSTRUCTION_WORDS, 0xFFFFFFFF))[0]
        assert (await request(ctx, Space.TENSORS, 0, 0xFFFFFFFF)) == (0, 0)
        assert (await request(ctx, Space.PROGRAM, 16 * config.program_rows, 1)) == (0, 0)
        for row in rng.permutation(config.program_rows):
            ctx.set(dut.row, int(row))
            await ctx.tick()
            expected = sum(int(piece) << 32 * index for index, piece in enumerate(pieces[row]))
            assert ctx.get(dut.instruction) == expected
        for row, piece in np.ndindex(config.program_rows, 16):
            expected = pieces[row, piece] if piece < INSTRUCTION_WORDS else 0
            assert await request(ctx, Space.PROGRAM, 16 * row + piece) == (1, expected)

    run(dut, bench)


def test_a_changed_instruction_is_reported(parity_memories):  # noqa: F811
    dut = ProgramMemory(PRESETS["tiny"].replace(program_rows=16))

    async def bench(ctx):
        [memory] = parity_memories
        for bit in (0, 31, 32, 200, 33 * INSTRUCTION_WORDS - 1):
            flip(ctx, memory, 5, bit)
            for row in (4, 5, 6):
                ctx.set(dut.row, row)
                await ctx.tick()
                assert ctx.get(dut.fault) == (row == 5)
            flip(ctx, memory, 5, bit)

    run(dut, bench)
