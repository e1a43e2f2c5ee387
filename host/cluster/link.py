# SPDX-License-Identifier: BSD-2-Clause
"""Ways that bytes take from one board to another."""

from dataclasses import dataclass
from typing import Annotated

from hypercast.host.description.conversion import Within

__all__ = ["GIGABITS", "MICROSECONDS", "ClusterLink", "Route"]

#: Gigabits in a second, as files give them: from 1 kb/s of a slow serial port to 1 Pb/s, which no
#: switch has. So a time is finite, whatever passes.
GIGABITS = Annotated[float, Within(1e-6, 1e6)]
#: Microseconds of latency, as files give them: up to 100 s, which no link has.
MICROSECONDS = Annotated[float, Within(0, 1e8)]


@dataclass(frozen=True, kw_only=True)
class ClusterLink:
    """The rate and delay of bytes between two boards.

    Parameters
    ----------
    bandwidth : float
        Bytes in a second, in either direction.
    latency : float
        Seconds from the first byte sent to the first byte received.
    """

    bandwidth: float
    latency: float

    def seconds(self, size: float) -> float:
        """Time of ``size`` bytes."""
        return self.latency + size / self.bandwidth


@dataclass(frozen=True, kw_only=True)
class Route(ClusterLink):
    """All that bytes pass from one board to another.

    They are sent in segments that follow each other: the slowest part sets the pace, and latencies
    add up.

    Parameters
    ----------
    ports : tuple of str
        What nothing else can use meanwhile: a way out of the sender, and one into the receiver.
    """

    ports: tuple[str, ...]
