# SPDX-License-Identifier: BSD-2-Clause
"""The DMA channels of AMD's XDMA driver, behind which is a chip's bulk port."""

import os
from collections.abc import Callable

from hypercast.host.runtime.device_file import open_device_file
from hypercast.host.transport.transport import TransportError

__all__ = ["XdmaChannels"]

#: What the names of the driver's files end with: registers, to the card, and from it.
_USER, _TO_CARD, _FROM_CARD = "_user", "_h2c_0", "_c2h_0"
_REMEDY = ("open or load the device again, which resets the chip; if that does not help, load the "
           "board's bitstream again")


class XdmaChannels:
    """One channel in each direction: files whose positions are addresses of the port.

    Parameters
    ----------
    user : str
        The driver's ``/dev/xdmaN_user``, or a link to it.

    Raises
    ------
    TransportError
        If the channels' files cannot be opened.
    """

    def __init__(self, user: str) -> None:
        path = os.path.realpath(user)
        if not path.endswith(_USER):
            raise TransportError(
                f"the chip at {user} has a bulk port, but the files of its DMA channels are known "
                f"of /dev/xdmaN{_USER} only; give that name, or a link to it")
        self._to_card = path.removesuffix(_USER) + _TO_CARD
        self._from_card = path.removesuffix(_USER) + _FROM_CARD
        self._output = self._open(self._to_card, os.O_WRONLY)
        try:
            self._input = self._open(self._from_card, os.O_RDONLY)
        except TransportError:
            os.close(self._output)
            raise

    @staticmethod
    def _open(path: str, flags: int) -> int:
        try:
            return open_device_file(path, flags)
        except OSError as error:
            raise TransportError(
                f"DMA channel {path} cannot be opened: {error.strerror}; the chip has a bulk port, "
                f"so load the xdma driver anew, and check the file's permissions") from error

    def write(self, address: int, data: bytes) -> None:
        """Write to an address; a ``TransportError`` if not all of it arrived."""
        self._transfer(f"DMA write at {address:#x} of {self._to_card}", len(data),
                       lambda: os.pwrite(self._output, data, address))

    def read(self, address: int, size: int) -> bytes:
        """Read ``size`` bytes from an address; a ``TransportError`` if not all of them came."""
        data = b""

        def transfer() -> int:
            nonlocal data
            data = os.pread(self._input, size, address)
            return len(data)
        self._transfer(f"DMA read at {address:#x} of {self._from_card}", size, transfer)
        return data

    @staticmethod
    def _transfer(what: str, size: int, transfer: Callable[[], int]) -> None:
        try:
            moved = transfer()
        except OSError as error:
            raise TransportError(
                f"{what} failed: {error.strerror}; the chip refuses it while it is at work; "
                f"{_REMEDY}") from error
        if moved != size:
            raise TransportError(f"{what} stopped after {moved} of {size} bytes; {_REMEDY}")

    def close(self) -> None:
        """Release the channels."""
        os.close(self._output)
        os.close(self._input)
