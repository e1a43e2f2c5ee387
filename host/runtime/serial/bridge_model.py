# SPDX-License-Identifier: BSD-2-Clause
"""The board's end of the link in Python, with any transport as its chip."""

from collections.abc import Sequence
from typing import Protocol

from hypercast.host.runtime.serial.frames import FrameDecoder, encode
from hypercast.host.transport.transport import BytePort, TransportError
from hypercast.rtl.serial.protocol import (
    LONGEST_ACCESS,
    SEQUENCES,
    WINDOW,
    AccessKind,
    FrameKind,
    header_word,
)

__all__ = ["BridgeModel"]


class ChipRegisters(Protocol):
    """The registers that the board's end of the link reaches."""

    def read(self, address: int) -> int:
        """A register."""

    def write(self, address: int, value: int) -> None:
        """Write a register."""

    def reset(self) -> None:
        """Reset the chip."""


class BridgeModel(BytePort):
    """A model of ``rtl.serial.bridge``, frame by frame.

    Parameters
    ----------
    chip : ChipRegisters
        A ``Transport``, say, that has ``reset``.
    """

    def __init__(self, chip: ChipRegisters) -> None:
        self.chip = chip
        self._decoder = FrameDecoder()
        self._output = b""
        self.closed = False
        self.press_reset()

    def press_reset(self) -> None:
        """Reset the board, as its button does."""
        self._session, self._sequence = 0, 0
        self._results: list[list[int]] = [[]] * WINDOW

    def send(self, data: bytes) -> None:
        for header, *words in self._decoder.feed(data):
            self._output += encode(self._answer(header & 0xFF, header >> 8 & 0xFF, header >> 16,
                                                words))

    def receive(self) -> bytes:
        data, self._output = self._output[:50], self._output[50:]
        return data

    def close(self) -> None:
        self.closed = True

    def _answer(self, kind: int, sequence: int, session: int, words: Sequence[int]) -> list[int]:
        if kind == FrameKind.OPEN and session not in (0, self._session):
            self._session, self._sequence = session, 0
        behind = (self._sequence - sequence) % SEQUENCES
        if kind == FrameKind.COMMAND and self._session == session != 0 and behind <= WINDOW:
            if behind == 0:
                self._results[sequence % WINDOW] = self._execute(words)
                self._sequence = (sequence + 1) % SEQUENCES
            return [header_word(FrameKind.RESULT, sequence, session),
                    *self._results[sequence % WINDOW]]
        return [header_word(FrameKind.STATE, self._sequence, self._session)]

    def _execute(self, words: Sequence[int]) -> list[int]:
        read: list[int] = []
        done, words = 0, list(words)
        try:
            while words:
                word = words.pop(0)
                access, address, count = word >> 14 & 3, word & 0xFFC, word >> 16
                for _ in range(count):
                    match access:
                        case AccessKind.READ if len(read) < LONGEST_ACCESS:
                            read.append(self.chip.read(address))
                        case AccessKind.WRITE if words:
                            self.chip.write(address, words.pop(0))
                        case AccessKind.RESET:
                            self.chip.reset()
                        case _:
                            return [*read, done]
                    done += 1
        except TransportError:
            pass
        return [*read, done]
