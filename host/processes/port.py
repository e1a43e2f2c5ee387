# SPDX-License-Identifier: BSD-2-Clause
"""A way into a board, through which messages pass one at a time."""

import bisect

__all__ = ["Port"]


class Port:
    """When messages pass, each in the first stretch of time that is left for it."""

    def __init__(self) -> None:
        self._begins: list[float] = []
        self._ends: list[float] = []

    def passed(self, ready: float, seconds: float) -> float:
        """When a message is there that takes some seconds, and can begin when it is ready.

        Messages may be asked for in another order than that in which they are ready. Those that
        were asked for before stay when they were. One that takes no time waits for none.
        """
        if not seconds:
            return ready
        place, begin = bisect.bisect_right(self._ends, ready), ready
        while place < len(self._begins) and begin + seconds > self._begins[place]:
            begin = self._ends[place]
            place += 1
        self._begins.insert(place, begin)
        self._ends.insert(place, begin + seconds)
        return begin + seconds

    def clear(self) -> None:
        """Forget what has passed, when all that comes will be ready later."""
        self._begins.clear()
        self._ends.clear()
