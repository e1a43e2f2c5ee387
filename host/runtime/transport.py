"""How the driver reaches a chip: registers, time, perhaps a back door to memories; or bytes."""

import abc
from typing import NamedTuple

import numpy as np

__all__ = ["Port", "Timeline", "Transport", "TransportError"]


class TransportError(RuntimeError):
    """The chip did not answer, or refused an access; names the access and its address."""


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

    cycle: np.ndarray
    core: np.ndarray
    busy: np.ndarray
    issue_cycle: np.ndarray
    issued: np.ndarray
    counters: np.ndarray


class Transport(abc.ABC):
    """Access to one chip's AXI4-Lite port."""

    @abc.abstractmethod
    def read(self, address):
        """The 32-bit register at byte ``address``.

        Raises
        ------
        TransportError
            If the access fails or does not end.
        """

    @abc.abstractmethod
    def write(self, address, value):
        """Write the 32-bit register at byte ``address``; raises as ``read``."""

    def read_stream(self, address, count):
        """Read the same register ``count`` times, in a list; raises as ``read``."""
        return [self.read(address) for _ in range(count)]

    def write_stream(self, address, values):
        """Write the same register again and again; raises as ``write``."""
        for value in values:
            self.write(address, value)

    def flush(self):  # noqa: B027 - nothing to do is a fine default
        """Wait until all writes are done; raises as ``write``, for any of them."""

    @abc.abstractmethod
    def wait(self, cycles):
        """Let about ``cycles`` clock cycles pass."""

    def memory(self, core, space):
        """A back door to a core's memory, so that images need not go through the window.

        A simulated device may offer it: an object with ``read(address, count)``, which returns
        (count, chunks) ``uint32``, and ``write(address, words)``. ``space`` is FEATURES, GRADIENTS
        or WEIGHTS of ``registers.Space``. None if there is no such door.
        """
        return None

    def record(self):
        """Begin to record what every engine does, from the next start of a program on.

        Raises
        ------
        TransportError
            If this transport cannot.
        """
        raise TransportError("this device keeps no timeline, only the compiled simulation does; "
                             "leave out --trace")

    def timeline(self):
        """End the recording; the ``Timeline`` of the last program, which has to be finished."""
        raise TransportError("nothing was recorded")

    def close(self):  # noqa: B027 - nothing to do is a fine default
        """Release the chip."""


class Port(abc.ABC):
    """Bytes to and from a board."""

    @abc.abstractmethod
    def send(self, data):
        """Send bytes."""

    @abc.abstractmethod
    def receive(self):
        """What has come; nothing after a silence in which every answer due would have come."""

    def close(self):  # noqa: B027 - nothing to do is a fine default
        """Release the port."""
