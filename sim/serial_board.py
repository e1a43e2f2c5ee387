# SPDX-License-Identifier: BSD-2-Clause
"""A board with a serial port, simulated, as a port that time passes in only when it is used."""

import ctypes
from collections.abc import Callable
from pathlib import Path

from hypercast.host.transport.transport import BytePort
from hypercast.rtl.config import Config
from hypercast.rtl.serial.bit_period import FRACTION
from hypercast.sim.library import load_library
from hypercast.sim.serial_build import BIT_PERIOD, build_board

__all__ = ["BYTE_CYCLES", "SimulatedSerialBoard"]

#: Cycles of a byte on the line: start bit, eight bits, stop bit.
BYTE_CYCLES = 10 * BIT_PERIOD / FRACTION
#: Cycles in which a board that has heard everything begins to answer, even to the longest command.
_SILENCE = 20_000


def _load(path: Path) -> ctypes.CDLL:
    handle, size, cycles = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint64
    return load_library(path, "hypercast_board_", {
        "create": (handle, []),
        "destroy": (None, [handle]),
        "reset": (None, [handle, cycles]),
        "send": (None, [handle, ctypes.c_char_p, size]),
        "advance": (cycles, [handle, size, cycles]),
        "receive": (size, [handle, ctypes.c_char_p, size]),
    })


class SimulatedSerialBoard(BytePort):
    """The whole board under CXXRTL: UART pins, link and chip.

    Parameters
    ----------
    config : Config
        Configuration of the chip; the board is compiled first if need be.
    folded : bool
        Whether the chip is a ``FoldedChip``.
    progress : callable
        Called with a line of text before each slow step of the build.

    Attributes
    ----------
    cycles : int
        Clock cycles since power-on.
    busy : bool
        Always: bytes take time on the line.
    """

    busy = True

    def __init__(self, config: Config, *, folded: bool = False,
                 progress: Callable[[str], None] = lambda text: None) -> None:
        self._library = _load(build_board(config, folded=folded, progress=progress))
        self._handle = self._library.hypercast_board_create()
        self._buffer = ctypes.create_string_buffer(4096)
        self.cycles = 0
        self._heard = 0  # cycle in which the last byte sent has arrived

    def send(self, data: bytes) -> None:
        self._library.hypercast_board_send(self._handle, data, len(data))
        self._heard = max(self._heard, self.cycles) + round(len(data) * BYTE_CYCLES)

    def advance(self, cycles: int, count: int) -> None:
        """Let cycles pass, but stop when ``count`` bytes have come."""
        self.cycles += self._library.hypercast_board_advance(self._handle, count, cycles)

    def receive(self) -> bytes:
        self.advance(max(self._heard - self.cycles, 0) + _SILENCE, 1)
        return self.take()

    def take(self) -> bytes:
        """The bytes that have come so far."""
        size = self._library.hypercast_board_receive(
            self._handle, self._buffer, len(self._buffer))
        return self._buffer.raw[:size]

    def press_reset(self) -> None:
        """Press the board's reset button."""
        self._library.hypercast_board_reset(self._handle, 4)

    def close(self) -> None:
        if self._handle:
            self._library.hypercast_board_destroy(self._handle)
            self._handle = None
