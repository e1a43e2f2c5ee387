# SPDX-License-Identifier: BSD-2-Clause
"""The serial ports of this machine."""

import contextlib
from collections.abc import Iterator

import serial

from hypercast.host.runtime.device_file import require_device_file
from hypercast.host.transport.transport import BytePort, TransportError
from hypercast.rtl.serial.protocol import FRAME_WORDS

__all__ = ["SerialPort"]

#: Seconds that operating system and adapter may take, both ways.
_LATENCY = 0.2
#: Seconds after which a port takes no more bytes for good.
_STUCK = 20


class SerialPort(BytePort):
    """A serial port of this machine, through pyserial.

    Parameters
    ----------
    name : str
        As the system calls it: ``/dev/ttyUSB0``.
    baud : int
        Bits per second.

    Raises
    ------
    TransportError
        If it cannot be opened, is no serial port, or another program uses it.
    """

    def __init__(self, name: str, baud: int) -> None:
        longest = 2 * FRAME_WORDS * 4 * 10 / baud  # seconds of a frame with all bytes escaped
        try:
            require_device_file(name)
            self._serial = serial.Serial(name, baud, timeout=_LATENCY + longest,
                                         write_timeout=_STUCK, exclusive=True)
        except (OSError, ValueError) as error:  # pyserial's errors are among these
            reason = getattr(error, "strerror", None) or error
            raise TransportError(f"serial port {name} at {baud} baud cannot be used: {reason}; "
                                 f"check its name, your permissions, and that no other program "
                                 f"has it open") from error
        self._name = name

    def send(self, data: bytes) -> None:
        with self._failures():
            self._serial.write(data)

    def receive(self) -> bytes:
        with self._failures():
            first = self._serial.read(1)
            return first + self._serial.read(self._serial.in_waiting) if first else b""

    @contextlib.contextmanager
    def _failures(self) -> Iterator[None]:
        """Say which port failed."""
        try:
            yield
        except OSError as error:  # pyserial's errors are among these
            raise TransportError(f"serial port {self._name} failed: {error}; check the cable, and "
                                 f"start again") from error

    def close(self) -> None:
        self._serial.close()
