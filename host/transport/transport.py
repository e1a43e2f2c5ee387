# SPDX-License-Identifier: BSD-2-Clause
"""How the driver reaches a chip: registers, time, perhaps a back door to memories; or bytes."""

import abc
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from hypercast.errors import HypercastError

__all__ = ["BytePort", "Memory", "Timeline", "Transport", "TransportError"]


class TransportError(HypercastError, RuntimeError):
    """The chip did not answer, or refused an access; names the access and its address."""


Integers: TypeAlias = npt.NDArray[np.integer[Any]]


class Memory(Protocol):
    """A back door to a core's memory."""

    def read(self, address: int, count: int) -> npt.NDArray[np.uint32]:
        """(count, chunks) words from an address on."""

    def write(self, address: int, words: npt.NDArray[np.uint32]) -> None:
        """Write (n, chunks) words from an address on."""


class Timeline(NamedTuple):
    """A recording of one program. Cycles count from its start, as the device counts them.

    Attributes
    ----------
    cycle, core, busy : (B,) numpy.ndarray
        From ``cycle`` on, the engines of ``core`` that are busy are ``busy`` (bits as in
        ``isa.Engine``, seen one cycle late); in order of cycles.
    issue_cycle, issued : (I,) numpy.ndarray
        Cycle of every instruction's issue, and the instruction's low 32 bits.
    counters : (I, cores, len(COUNTERS)) numpy.ndarray of uint32
        Counters at every issue, in order of ``COUNTERS``; zero where a core has none.
    """

    cycle: Integers
    core: Integers
    busy: Integers
    issue_cycle: Integers
    issued: Integers
    counters: npt.NDArray[np.uint32]


class Transport(abc.ABC):
    """Access to one chip's AXI4-Lite port."""

    @abc.abstractmethod
    def read(self, address: int) -> int:
        """The 32-bit register at byte ``address``.

        Raises
        ------
        TransportError
            If the access fails or does not end.
        """

    @abc.abstractmethod
    def write(self, address: int, value: int) -> None:
        """Write the 32-bit register at byte ``address``; raises as ``read``."""

    def read_stream(self, address: int, count: int) -> list[int]:
        """Read the same register ``count`` times, in a list; raises as ``read``."""
        return [self.read(address) for _ in range(count)]

    def write_stream(self, address: int, values: Iterable[int]) -> None:
        """Write the same register again and again; raises as ``write``."""
        for value in values:
            self.write(address, value)

    def flush(self) -> None:  # noqa: B027 - nothing to do is a fine default
        """Wait until all writes are done; raises as ``write``, for any of them."""

    @abc.abstractmethod
    def wait(self, cycles: int) -> None:
        """Let about ``cycles`` clock cycles pass."""

    def memory(self, core: int, space: int) -> Memory | None:
        """A back door to a core's memory, so that images need not go through the window.

        A simulated device may offer it: an object with ``read(address, count)``, which returns
        (count, chunks) ``uint32``, and ``write(address, words)``. ``space`` is FEATURES, GRADIENTS
        or WEIGHTS of ``registers.Space``. None if there is no such door.
        """
        return None

    @property
    def bulk(self) -> bool:
        """Whether the chip's bulk port is reached, so that memories need not go through the window.
        """
        return False

    def write_bulk(self, address: int, data: bytes) -> None:
        """Write whole memory words through the bulk port; all of them are visible afterwards.

        Parameters
        ----------
        address : int
            Byte address of the port, as ``registers.bulk_address`` or
            ``registers.striped_address`` gives it.
        data : bytes
            What is written, words of 32 bits in little-endian order.

        Raises
        ------
        TransportError
            If the transfer fails or does not end. Part of it may have been written, and the chip
            has to be reset (``chip_reset.reset_chip``) before the port is used again.
        """
        raise TransportError("this way to the chip does not reach its bulk port")

    def read_bulk(self, address: int, size: int) -> bytes:
        """Read ``size`` bytes, whole words of 32 bits, of one core; else as ``write_bulk``."""
        raise TransportError("this way to the chip does not reach its bulk port")

    def record(self) -> None:
        """Begin to record what every engine does, from the next start of a program on.

        Raises
        ------
        TransportError
            If this transport cannot.
        """
        raise TransportError("this device keeps no timeline, only the compiled simulation does; "
                             "leave out --trace")

    def timeline(self) -> Timeline:
        """End the recording; the ``Timeline`` of the last program, which has to be finished."""
        raise TransportError("nothing was recorded")

    def close(self) -> None:  # noqa: B027 - nothing to do is a fine default
        """Release the chip."""


class BytePort(abc.ABC):
    """Bytes to and from a board."""

    @abc.abstractmethod
    def send(self, data: bytes) -> None:
        """Send bytes."""

    @abc.abstractmethod
    def receive(self) -> bytes:
        """Bytes that have come; none after a silence in which every answer due would have come."""

    def close(self) -> None:  # noqa: B027 - nothing to do is a fine default
        """Release the port."""
