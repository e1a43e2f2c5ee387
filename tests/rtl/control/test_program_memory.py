"""ProgramMemory: written and read in pieces, fetched in rows."""

import numpy as np

from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.program_memory import ProgramMemory
from hypercast.rtl.isa import INSTRUCTION_WORDS
from hypercast.rtl.registers import Space
from tests.bench import run


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
