# SPDX-License-Identifier: BSD-2-Clause
"""Makes a simulated board appear as a serial port of this machine: a pseudo-terminal."""

import threading
from typing import Protocol, Self

from hypercast.sim.pseudo_terminal import PseudoTerminal

__all__ = ["SerialTerminal", "TerminalBoard"]

#: Cycles simulated between two looks for bytes of the host. A host that waits for an answer before
#: it asks again waits as long each time.
_SLICE = 200
#: Seconds from one look whether to end to the next, where nothing else is to be done.
_REST = 0.1


class TerminalBoard(Protocol):
    """The board behind the port."""

    @property
    def busy(self) -> bool:
        """Whether something happens there although nobody sends anything."""

    def send(self, data: bytes) -> None:
        """Take bytes from the host."""

    def advance(self, cycles: int, count: int) -> None:
        """Let cycles pass, or fewer when ``count`` bytes have come."""

    def take(self) -> bytes:
        """Bytes for the host, that have come so far."""

    def close(self) -> None:
        """End the simulation."""


class SerialTerminal:
    """A serial port with a board behind it.

    ``serve`` simulates. In a ``with`` statement a thread does so, for as long as that lasts.

    Parameters
    ----------
    board : TerminalBoard
        The board; it is closed with the port.

    Attributes
    ----------
    name : str
        The serial port's name.

    Raises
    ------
    TransportError
        If this machine has no pseudo-terminals.
    """

    def __init__(self, board: TerminalBoard) -> None:
        self._board = board
        self._terminal = PseudoTerminal()
        self.name = self._terminal.name
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def serve(self) -> None:
        """Simulate, until ``close`` is called by another thread."""
        board, terminal = self._board, self._terminal
        while not self._closing.is_set():
            busy = board.busy
            if data := terminal.exchange(0 if busy else _REST):
                board.send(data)
            if busy:
                board.advance(_SLICE, 1)
            if not terminal.full:
                while data := board.take():
                    terminal.send(data)

    def close(self) -> None:
        """End the simulation, and take the port away."""
        self._closing.set()
        if self._thread:
            self._thread.join()
        self._terminal.close()
        self._board.close()

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self.serve)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
