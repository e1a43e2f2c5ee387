# SPDX-License-Identifier: BSD-2-Clause
"""SerialLink: levels of its lines at rest, and an answer to a frame that came over the line."""

import struct

from hypercast.host.runtime.serial.frames import encode
from hypercast.rtl.config import PRESETS
from hypercast.rtl.serial.protocol import FLAG, FrameKind, header_word
from hypercast.rtl.serial.serial_link import SerialLink
from tests.bench import run
from tests.rtl.serial.uart_line import read_bytes, send_byte

CONFIG = PRESETS["tiny"].replace(accumulator_rows=16)
#: Of a bit, in sixteenths of a cycle.
PERIOD = 5 * 16


def test_lines_at_rest():
    """Both at one, and the chip in reset for as long as that takes; in slots of it, if it has any.
    """
    for slots in (1, 3):
        dut = SerialLink(CONFIG, PERIOD, slots=slots)

        async def bench(ctx, dut=dut, slots=slots):
            assert ctx.get(dut.rx) == 1
            cycles = 0
            while ctx.get(dut.chip_reset):
                assert ctx.get(dut.tx) == 1
                await ctx.tick()
                cycles += 1
            assert slots * CONFIG.reset_cycles <= cycles <= slots * CONFIG.reset_cycles + 4

        run(dut, bench, cycles=1000)


def test_a_session_is_opened():
    dut = SerialLink(CONFIG, PERIOD)

    async def send(ctx):
        await ctx.tick().repeat(50)
        for byte in encode([header_word(FrameKind.OPEN, 0, 77)]):
            await send_byte(ctx, dut.rx, byte, PERIOD)

    async def receive(ctx):
        frame = bytes(await read_bytes(ctx, dut.tx, 10, PERIOD))
        assert frame[0] == frame[-1] == FLAG
        word, = struct.unpack("<I", frame[1:5])
        assert word == header_word(FrameKind.STATE, 0, 77)

    run(dut, send, receive, cycles=10_000)
