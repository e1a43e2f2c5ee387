# SPDX-License-Identifier: BSD-2-Clause
"""A board with a serial port: clock, reset, UART pins and status LEDs. Wiring only."""

from typing import Any

from amaranth.build import Platform, ResourceError
from amaranth.hdl import ClockDomain, Elaboratable, Module, ResetSignal
from amaranth.lib import io
from amaranth.lib.cdc import ResetSynchronizer

from hypercast.boards.clock_generator import ClockGenerator
from hypercast.boards.serial_board import SerialBoard
from hypercast.boards.serial_top import SerialTop
from hypercast.rtl.config import Config

__all__ = ["SerialBoardTop"]


class SerialBoardTop(Elaboratable):
    """The top of a board, for Amaranth's platform of that board.

    Everything is in reset until the clock is good, and while the board's button is pressed. The
    first LEDs show, as far as there are any: out of reset, the line from the host, the line to it
    (lit while they are low).

    Parameters
    ----------
    board : SerialBoard
        Board.
    config : Config
        Configuration of the chip, whose parts are modules of their own, see ``Chip``.
    folded : bool
        Whether it is a ``FoldedChip``.

    Raises
    ------
    InputError
        If the clock does not allow the baud rate or cannot be made.
    """

    def __init__(self, board: SerialBoard, config: Config, *, folded: bool) -> None:
        self._board = board
        self._top = SerialTop(config, board.frequency, converted=True, folded=folded)

    def elaborate(self, platform: Platform) -> Module:
        m = Module()
        m.submodules.top = top = self._top
        m.submodules.clock = clock = ClockGenerator(
            int(platform.default_clk_frequency), self._board.frequency)

        def pins(direction: str, *resource: Any) -> io.Buffer:
            buffer = io.Buffer(direction, resource[0] if len(resource) == 1 else
                               platform.request(*resource, dir="-"))
            m.submodules += buffer
            return buffer

        m.domains.board = board = ClockDomain("board", local=True)
        reset = pins("i", *self._board.reset).i
        m.submodules.reset = ResetSynchronizer(reset | ~clock.locked, domain="board")
        uart = platform.request("uart", 0, dir="-")
        rx, tx = pins("i", uart.rx).i, pins("o", uart.tx).o
        m.d.comb += [
            clock.oscillator.eq(pins("i", platform.default_clk, 0).i),
            board.clk.eq(clock.clk),
            top.clk.eq(clock.clk),
            top.rst.eq(ResetSignal("board")),
            top.rx.eq(rx),
            tx.eq(top.tx),
        ]
        for number, light in enumerate((~ResetSignal("board"), ~rx, ~top.tx)):
            try:
                m.d.comb += pins("o", "led", number).o.eq(light)
            except ResourceError:
                break
        return m
