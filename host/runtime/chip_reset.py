# SPDX-License-Identifier: BSD-2-Clause
"""Begins with a chip anew: nothing is left of a program that was broken off."""

import fcntl

from hypercast.host.transport.transport import Transport, TransportError
from hypercast.rtl.registers import MAGIC, Control, Status, register

__all__ = ["check_magic", "claim", "reset_chip"]

#: Looks at a chip that is being reset, and about how many cycles are between two of them.
_LOOKS, _PAUSE = 1000, 500


def check_magic(transport: Transport, path: str, address: int = 0) -> None:
    """Make sure that there is a chip, before anything is written to it.

    Parameters
    ----------
    transport : Transport
        The way to it.
    path : str
        Name of the file that it is reached by.
    address : int
        Where its registers begin there.

    Raises
    ------
    TransportError
        If there is something else.
    """
    magic = transport.read(register("magic"))
    if magic != MAGIC:
        raise TransportError(
            f"there is no chip at {address:#x} of {path}: register magic reads {magic:#010x}, not "
            f"{MAGIC:#010x}; load the board's bitstream, and check the address")


def reset_chip(transport: Transport) -> None:
    """Reset a chip, whatever it does; its memories do not change.

    A program that stopped before its end has left sums in accumulators, and perhaps engines at
    work.

    Raises
    ------
    TransportError
        If the reset does not end, as where an external memory owes an answer for good.
    """
    transport.write(register("control"), Control.RESET)
    for _ in range(_LOOKS):
        if not Status(transport.read(register("status"))) & Status.RESETTING:
            return
        transport.wait(_PAUSE)
    raise TransportError("the chip's reset does not end, because a memory of it does not answer; "
                         "load the board's bitstream again")


def claim(file: int, path: str, start: int, size: int) -> None:
    """Keep other processes from a chip until the file is closed, or this process ends.

    Parameters
    ----------
    file : int
        The open file.
    path : str
        Name of the file.
    start, size : int
        The bytes that are the chip's registers.

    Raises
    ------
    TransportError
        If another process has claimed them.
    """
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, size, start)
    except BlockingIOError:
        raise TransportError(f"device {path} is in use by another process; wait until that ends, "
                             f"or end it") from None
