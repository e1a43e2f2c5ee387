"""Makes a simulated board appear as a serial port of this machine: a pseudo-terminal."""

import os
import select
import threading
import tty
from typing import Self

from hypercast.sim.serial_board import SerialBoard

__all__ = ["SerialTerminal"]

#: Cycles simulated between two looks at what the host has sent: a host that waits for an answer
#: before it asks again waits as long each time.
_SLICE = 200


class SerialTerminal:
    """Simulates a board in a thread of its own, for as long as it is open.

    Parameters
    ----------
    board : SerialBoard
        The board.

    Attributes
    ----------
    name : str
        The serial port's name.
    """

    def __init__(self, board: SerialBoard) -> None:
        self._board = board
        self._ours, self._theirs = os.openpty()
        tty.setraw(self._theirs)
        self.name = os.ttyname(self._theirs)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._closing.is_set():
            if select.select([self._ours], [], [], 0)[0]:
                self._board.send(os.read(self._ours, 4096))
            self._board.advance(_SLICE, 1)
            data = self._board.take()
            while data:
                data = data[os.write(self._ours, data):]

    def close(self) -> None:
        """End the simulation, and take the port away."""
        self._closing.set()
        self._thread.join()
        os.close(self._ours)
        os.close(self._theirs)
        self._board.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
