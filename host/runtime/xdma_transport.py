# SPDX-License-Identifier: BSD-2-Clause
"""A board on PCIe, behind AMD's XDMA driver, as a transport of the driver."""

import os

from hypercast.errors import InputError
from hypercast.host.runtime.chip_reset import check_magic, claim, reset_chip
from hypercast.host.runtime.device_file import open_device_file
from hypercast.host.runtime.xdma_channels import XdmaChannels
from hypercast.host.transport.transport import Transport, TransportError
from hypercast.rtl.registers import MAGIC, REGISTER_BYTES, Status, register

__all__ = ["XDMA", "XdmaTransport", "open_xdma", "xdma_path"]

#: What names of such devices begin with.
XDMA = "xdma:"

#: What a host reads where nobody answers, or where an access failed.
_NOBODY = 0xFFFFFFFF
_BYTES = 4


def xdma_path(name: str) -> str:
    """File of device ``xdma:FILE``.

    Raises
    ------
    InputError
        If it has not that form.
    """
    path = name.removeprefix(XDMA)
    if path in ("", name) or "\0" in path:
        raise InputError(f"device {name!r} is not of the form xdma:FILE, for instance "
                         f"xdma:/dev/xdma0_user")
    return path


def open_xdma(name: str) -> "XdmaTransport":
    """The transport to a board whose chip was just reset, and is this process' alone.

    Its bulk port is reached by DMA, if it has one.

    Parameters
    ----------
    name : str
        ``xdma:FILE``.

    Raises
    ------
    TransportError
        If there is no such board, another process uses it, it holds no chip, its reset does not
        end, or the DMA channels of one with a bulk port cannot be opened. Nothing is written
        before there is known to be a chip.
    InputError
        If the name is wrong.
    """
    transport = XdmaTransport(xdma_path(name))
    try:
        transport.claim()
        check_magic(transport, xdma_path(name))
        reset_chip(transport)
        if transport.read(register("status")) & Status.BULK:
            transport.open_channels()
    except TransportError:
        transport.close()
        raise
    return transport


class XdmaTransport(Transport):
    """A chip whose registers are the bytes of a file.

    Parameters
    ----------
    path : str
        The file: the driver's ``/dev/xdmaN_user``.

    Raises
    ------
    TransportError
        If it cannot be opened, or is no character device.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._channels: XdmaChannels | None = None
        try:
            self._file = open_device_file(path, os.O_RDWR | os.O_SYNC)
        except OSError as error:
            raise TransportError(f"device {path} cannot be opened: {error.strerror}; load the "
                                 f"xdma driver, and check its permissions") from error

    def claim(self) -> None:
        """Keep other processes from the board; a ``TransportError`` if one uses it."""
        claim(self._file, self._path, 0, REGISTER_BYTES)

    def open_channels(self) -> None:
        """Reach the chip's bulk port from now on; a ``TransportError`` if that cannot be."""
        self._channels = XdmaChannels(self._path)

    @property
    def bulk(self) -> bool:
        return self._channels is not None

    def write_bulk(self, address: int, data: bytes) -> None:
        if self._channels is None:
            return super().write_bulk(address, data)
        return self._channels.write(address, data)

    def read_bulk(self, address: int, size: int) -> bytes:
        if self._channels is None:
            return super().read_bulk(address, size)
        return self._channels.read(address, size)

    def read(self, address: int) -> int:
        return self.read_stream(address, 1)[0]

    def read_stream(self, address: int, count: int) -> list[int]:
        values = [self._read(address) for _ in range(count)]
        if _NOBODY in values:
            self._check_presence(address)
        return values

    def _check_presence(self, address: int) -> None:
        if self._read(register("magic")) != MAGIC:
            raise TransportError(
                f"read at {address:#x} failed: {self._path} answers with ones only, so the board "
                f"is gone; load its bitstream again, then rescan the PCI bus")

    def _read(self, address: int) -> int:
        try:
            data = os.pread(self._file, _BYTES, address)
        except OSError as error:
            raise self._explain_refusal("read", address, error.strerror) from error
        if len(data) != _BYTES:
            raise self._explain_refusal("read", address, f"{len(data)} bytes came")
        return int.from_bytes(data, "little")

    def write(self, address: int, value: int) -> None:
        try:
            written = os.pwrite(self._file, value.to_bytes(_BYTES, "little"), address)
        except OSError as error:
            raise self._explain_refusal("write", address, error.strerror) from error
        if written != _BYTES:
            raise self._explain_refusal("write", address, f"{written} bytes were taken")

    def _explain_refusal(self, access: str, address: int, reason: str | None) -> TransportError:
        return TransportError(f"{access} at {address:#x} of {self._path} failed: {reason}")

    def wait(self, cycles: int) -> None:
        """Nothing: the next look at the chip takes about as long."""

    def close(self) -> None:
        if self._channels is not None:
            self._channels.close()
        os.close(self._file)
