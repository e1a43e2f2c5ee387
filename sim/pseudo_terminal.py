# SPDX-License-Identifier: BSD-2-Clause
"""A pseudo-terminal: a serial port of this machine, whose other end is a program."""

import os
import select

from hypercast.host.transport.transport import TransportError

__all__ = ["PseudoTerminal"]


class PseudoTerminal:
    """The program's end of a pseudo-terminal, which nothing is done to bytes on.

    Whoever opens the other end may close it and come back, or be followed by another.

    Attributes
    ----------
    name : str
        The other end's name, ``/dev/pts/3``, say.

    Raises
    ------
    TransportError
        If this machine has no pseudo-terminals, or no more of them.
    """

    def __init__(self) -> None:
        try:
            import tty  # which not every system has

            self._ours, self._theirs = os.openpty()
        except (ImportError, AttributeError, OSError) as error:
            raise TransportError(
                f"this machine gives no pseudo-terminal: {error}; in a container, mount /dev/pts; "
                f"where the system has none, use Linux or macOS") from error
        tty.setraw(self._theirs)  # kept open, so that ours stays usable when nobody is there
        os.set_blocking(self._ours, False)
        self.name = os.ttyname(self._theirs)
        self._unsent = b""

    def exchange(self, seconds: float) -> bytes:
        """Send pending bytes, and wait for bytes; returns the bytes that have come.

        As long as nobody takes the pending bytes, no bytes are received.

        Parameters
        ----------
        seconds : float
            How long to wait for something to do.
        """
        ends = [self._ours]
        came, may_send, _ = select.select(
            [] if self._unsent else ends, ends if self._unsent else [], [], seconds)
        if may_send:
            self._unsent = self._unsent[os.write(self._ours, self._unsent):]
        return os.read(self._ours, 4096) if came else b""

    def send(self, data: bytes) -> None:
        """Send bytes, now or in ``exchange``."""
        self._unsent += data

    @property
    def full(self) -> bool:
        """Whether bytes are to be sent that nobody has taken."""
        return bool(self._unsent)

    def close(self) -> None:
        """Take the serial port away."""
        os.close(self._ours)
        os.close(self._theirs)
