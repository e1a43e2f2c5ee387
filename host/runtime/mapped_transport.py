# SPDX-License-Identifier: BSD-2-Clause
"""A board whose registers are in this processor's address space, as a transport of the driver."""

import mmap
import os
import re
import stat

import numpy as np

from hypercast.errors import InputError
from hypercast.host.runtime.chip_reset import check_magic, claim, reset_chip
from hypercast.host.runtime.device_file import open_device_file
from hypercast.host.transport.transport import Transport, TransportError
from hypercast.rtl.registers import REGISTER_BYTES

__all__ = ["MAPPED", "MappedTransport", "mapped_place", "open_mapped"]

#: What names of such devices begin with.
MAPPED = "mapped:"

_NAME = re.compile(rf"{MAPPED}([^@\0]+)(?:@(0[xX][0-9a-fA-F]{{1,16}}|[0-9]{{1,20}}))?")


def mapped_place(name: str) -> tuple[str, int]:
    """File and address of device ``mapped:FILE[@ADDRESS]``; 0 without an address.

    Raises
    ------
    InputError
        If it has not that form, or no registers can begin there.
    """
    found = _NAME.fullmatch(name)
    if not found:
        raise InputError(f"device {name!r} is not of the form mapped:FILE[@ADDRESS], for instance "
                         f"mapped:/dev/uio0 or mapped:/dev/mem@0xa0000000")
    digits = found[2] or "0"
    address = int(digits, 16 if digits[:2] in ("0x", "0X") else 10)
    if address % mmap.ALLOCATIONGRANULARITY or address >= 1 << 63:
        raise InputError(f"device {name!r}: the address must be a multiple of "
                         f"{mmap.ALLOCATIONGRANULARITY:#x} below 2**63, not {address:#x}")
    return found[1], address


def open_mapped(name: str) -> "MappedTransport":
    """The transport to a board whose chip was just reset, and is this process' alone.

    Parameters
    ----------
    name : str
        ``mapped:FILE[@ADDRESS]``.

    Raises
    ------
    TransportError
        If there is no such board, another process uses it, or its reset does not end.
    InputError
        If the name is wrong.
    """
    path, address = mapped_place(name)
    transport = MappedTransport(path, address)
    try:
        transport.claim()
        check_magic(transport, path, address)
        reset_chip(transport)
    except TransportError:
        transport.close()
        raise
    return transport


class MappedTransport(Transport):
    """A chip whose registers are mapped from a file.

    An access is one load or store of 32 bits. If nobody answers it, the processor ends this
    program.

    Parameters
    ----------
    path : str
        The file: ``/dev/uioN``, ``/dev/mem``, or a resource of PCIe below ``/sys``.
    address : int
        Where the registers begin in it.

    Raises
    ------
    TransportError
        If it cannot be mapped, or is no such file.
    """

    def __init__(self, path: str, address: int = 0) -> None:
        try:
            self._file = open_device_file(path, os.O_RDWR | os.O_SYNC, mapped=True)
            try:
                status = os.fstat(self._file)
                if stat.S_ISREG(status.st_mode) and status.st_size < address + REGISTER_BYTES:
                    raise OSError(0, "the file ends before the registers do")
                self._map = mmap.mmap(self._file, REGISTER_BYTES, offset=address)
            except (OSError, OverflowError):
                os.close(self._file)
                raise
        except (OSError, OverflowError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise TransportError(
                f"registers at {address:#x} of {path} cannot be mapped: {reason}; check path, "
                f"address and permissions (/dev/mem needs root)") from error
        self._path, self._address = path, address
        self._registers = np.frombuffer(self._map, dtype=np.uint32)

    def claim(self) -> None:
        """Keep other processes from the board; a ``TransportError`` if one uses it."""
        claim(self._file, self._path, self._address, REGISTER_BYTES)

    def read(self, address: int) -> int:
        return int(self._registers[address // 4])

    def write(self, address: int, value: int) -> None:
        self._registers[address // 4] = value

    def wait(self, cycles: int) -> None:
        """Nothing: the next look at the chip takes about as long."""

    def close(self) -> None:
        del self._registers
        self._map.close()
        os.close(self._file)
