# SPDX-License-Identifier: BSD-2-Clause
"""A board's virtual clock: what it would have done when, on boards that are not here."""

from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["BusyInterval", "Clock"]


class BusyInterval(NamedTuple):
    """A stretch of virtual time in which something was busy.

    Attributes
    ----------
    track : str
        A board, or a port of one.
    name : str
        What it did.
    begin, end : float
        Seconds.
    """

    track: str
    name: str
    begin: float
    end: float


@dataclass
class Clock:
    """The clock of one board. It goes on by what the board computes, and by what it waits for.

    Parameters
    ----------
    board : str
        The board's name.

    Attributes
    ----------
    now : float
        Seconds since the training began.
    computed, waited : float
        How much of them the board computed, and waited for others.
    intervals : list of BusyInterval
        What happened since it was cleared.
    """

    board: str
    now: float = 0.0
    computed: float = 0.0
    waited: float = 0.0
    intervals: list[BusyInterval] = field(default_factory=list)

    def compute(self, seconds: float, name: str) -> None:
        """The board computes."""
        self.intervals.append(BusyInterval(self.board, name, self.now, self.now + seconds))
        self.computed += seconds
        self.now += seconds

    def wait(self, until: float) -> None:
        """The board waits for something that is there at a time, if it is not yet."""
        if until > self.now:
            self.waited += until - self.now
            self.now = until
