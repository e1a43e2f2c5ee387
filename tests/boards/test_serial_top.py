# SPDX-License-Identifier: BSD-2-Clause
"""The generic board: that it is complete, and that its clock suits its serial port."""

import pytest
from amaranth.sim import Simulator

from hypercast.boards.serial_top import SerialTop
from hypercast.host.runtime.serial.frames import FrameDecoder, encode
from hypercast.rtl.chip import CONTROL_MODULE, CORE_MODULE
from hypercast.rtl.config import PRESETS
from hypercast.rtl.export.chip_conversion import parts_to_rtlil
from hypercast.rtl.export.rtlil import to_rtlil
from hypercast.rtl.export.verilog import write_verilog
from hypercast.rtl.registers import register
from hypercast.rtl.serial.protocol import AccessKind, FrameKind, access_word, header_word

TINY = PRESETS["tiny"]


def test_verilog():
    """Clock, reset and two pins; the chip's reset comes from the link."""
    top = to_rtlil(SerialTop(TINY, 50e6, converted=True), "board")
    verilog = write_verilog(*parts_to_rtlil(TINY).values(), top)
    [ports] = [line for line in verilog.splitlines() if line.startswith("module board(")]
    names = ports.partition("(")[2].rstrip(");").replace(" ", "").split(",")
    assert sorted(names) == ["clk", "rst", "rx", "tx"]
    assert verilog.count(f"  {CORE_MODULE} ") == TINY.cores
    assert verilog.count(f"  {CONTROL_MODULE} ") == 1


def test_a_register_is_read_over_the_pins():
    """Everything as it is on a board, in Amaranth's simulator: one core, two frames each way."""
    config = TINY.replace(dimensions=0)
    top = SerialTop(config, 4e6, baud=1_000_000)
    simulator = Simulator(top)
    replies = []

    async def bit(ctx, level):
        """Four cycles of the line from the host; returns the last level of that from the board."""
        ctx.set(top.rx, level)
        for _ in range(4):
            for clock in (1, 0):
                ctx.set(top.clk, clock)
                await ctx.delay(1e-6)
        return ctx.get(top.tx)

    async def exchange(ctx, frame, bits):
        """Send a frame, and listen for a number of bits; the words that came."""
        levels = [await bit(ctx, level) for byte in frame
                  for level in (0, *(byte >> index & 1 for index in range(8)), 1)]
        levels += [await bit(ctx, 1) for _ in range(bits)]
        received, position = bytearray(), 0
        while 0 in levels[position:]:
            position = levels.index(0, position)
            byte = levels[position + 1:position + 9]
            received.append(sum(level << index for index, level in enumerate(byte)))
            position += 9
        replies.extend(FrameDecoder().feed(bytes(received)))

    async def host(ctx):
        await exchange(ctx, encode([header_word(FrameKind.OPEN, 0, 9)]), 150)
        await exchange(ctx, encode([header_word(FrameKind.COMMAND, 0, 9), access_word(
            AccessKind.READ, register("config_hash"), 1)]), 250)

    simulator.add_testbench(host)
    simulator.run()
    assert replies == [[header_word(FrameKind.STATE, 0, 9)],
                       [header_word(FrameKind.RESULT, 0, 9), config.hash, 1]]


def test_a_clock_too_slow():
    with pytest.raises(ValueError, match=r"at least 4 cycles, not 2\.0; choose a lower baud"):
        SerialTop(TINY, 6e6, baud=3_000_000)
