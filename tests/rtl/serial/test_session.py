# SPDX-License-Identifier: BSD-2-Clause
"""Session: what is new, what is repeated, what is neither."""

from hypercast.rtl.serial.protocol import WINDOW, FrameKind
from hypercast.rtl.serial.session import Session
from tests.bench import run


def test_a_session():
    dut = Session()

    async def see(ctx, kind, sequence, session):
        ctx.set(dut.header, {"kind": kind, "sequence": sequence, "session": session})
        return ctx.get(dut.new), ctx.get(dut.repeated)

    async def strobe(ctx, signal):
        ctx.set(signal, 1)
        await ctx.tick()
        ctx.set(signal, 0)

    async def bench(ctx):
        assert await see(ctx, FrameKind.COMMAND, 0, 0) == (0, 0)  # session 0 is none
        await see(ctx, FrameKind.OPEN, 9, 0)
        await strobe(ctx, dut.open)
        assert ctx.get(dut.session) == 0
        await see(ctx, FrameKind.OPEN, 9, 5)
        await ctx.tick()
        assert ctx.get(dut.session) == 0  # a header alone opens nothing
        await strobe(ctx, dut.open)
        assert (ctx.get(dut.session), ctx.get(dut.sequence)) == (5, 0)
        for expected in [*range(256), *range(20)]:
            for sequence in range(256):
                behind = (expected - sequence) % 256
                assert await see(ctx, FrameKind.COMMAND, sequence, 5) == (
                    behind == 0, 0 < behind <= WINDOW)
            assert await see(ctx, FrameKind.COMMAND, expected, 6) == (0, 0)
            assert await see(ctx, FrameKind.OPEN, expected, 5) == (0, 0)
            await strobe(ctx, dut.open)  # once more: nothing changes
            assert ctx.get(dut.sequence) == expected
            await strobe(ctx, dut.advance)
        await see(ctx, FrameKind.OPEN, 0, 7)
        await ctx.tick()
        assert ctx.get(dut.session) == 5
        await strobe(ctx, dut.open)
        assert (ctx.get(dut.session), ctx.get(dut.sequence)) == (7, 0)

    run(dut, bench)
