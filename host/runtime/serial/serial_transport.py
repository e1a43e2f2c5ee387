# SPDX-License-Identifier: BSD-2-Clause
"""A board on a serial port as a transport of the driver."""

from collections.abc import Iterable

from hypercast.host.runtime.serial.command import Command
from hypercast.host.runtime.serial.session import Session
from hypercast.host.transport.transport import BytePort, Transport

__all__ = ["SerialTransport"]


class SerialTransport(Transport):
    """A chip behind the serial link.

    Writes are gathered into frames and sent without waiting: that one was refused is known, and
    raised, at the next read or ``flush``.

    Parameters
    ----------
    port : BytePort
        The line to the board.
    **options
        See ``Session``.

    Raises
    ------
    TransportError
        If nobody answers.
    """

    def __init__(self, port: BytePort, **options: int) -> None:
        self._session = Session(port, **options)
        self._command = Command()  # being gathered
        self._posted: list[Command] = []  # commands whose results were not looked at

    def read(self, address: int) -> int:
        return self.read_stream(address, 1)[0]

    def write(self, address: int, value: int) -> None:
        self.write_stream(address, [value])

    def read_stream(self, address: int, count: int) -> list[int]:
        left = count
        while left:
            if not (taken := self._command.read(address, left)):
                self._post()
            left -= taken
        return self._results()

    def write_stream(self, address: int, values: Iterable[int]) -> None:
        values = list(values)
        while values:
            if not (taken := self._command.write(address, values)):
                self._post()
            values = values[taken:]

    def wait(self, cycles: int) -> None:
        """Only send what was gathered: the next look at the chip takes long enough."""
        self._post()

    def reset(self) -> None:
        """Reset the chip, whatever it is doing; its memories do not change."""
        self._post()
        self._command.reset()
        self.flush()

    def flush(self) -> None:
        self._results()

    def _results(self) -> list[int]:
        """Wait until everything is done; the words read since the last time."""
        self._post()
        posted, self._posted = self._posted, []
        results = self._session.results()
        return [word for command, result in zip(posted, results, strict=True)
                for word in command.check(result)]

    def _post(self) -> None:
        if self._command.words:
            self._session.post(self._command.words)
            self._posted.append(self._command)
            self._command = Command()

    def close(self) -> None:
        try:
            self.flush()
        finally:
            self._session.close()
