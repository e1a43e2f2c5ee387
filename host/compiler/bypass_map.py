# SPDX-License-Identifier: BSD-2-Clause
"""Which results the vector unit leaves for whoever sends or reduces them next, and where."""

from collections.abc import Iterable

from hypercast.reference.tensor import Tensor
from hypercast.rtl.config import Config
from hypercast.rtl.isa import Bypass

__all__ = ["BypassMap"]


class BypassMap:
    """Gives places in the memories of ``Bypass.RIGHT`` and ``Bypass.SEND``.

    First come, first served. What does not fit is read from memory.

    Parameters
    ----------
    config : Config
        Gives ``bypass_rows``, the memories' size.
    wanted : iterable of (Bypass, Tensor, int, int)
        Memory, matrix, panels and rows of a panel.
    """

    def __init__(self, config: Config, wanted: Iterable[tuple[Bypass, Tensor, int, int]]) -> None:
        self._places: dict[tuple[Bypass, Tensor], tuple[int, int]] = {}
        used = {Bypass.RIGHT: 0, Bypass.SEND: 0}
        for target, name, panels, rows in wanted:
            if used[target] + panels * rows <= config.bypass_rows:
                self._places[target, name] = used[target], rows
                used[target] += panels * rows

    def base(self, target: Bypass, name: Tensor, panel: int) -> int | None:
        """First word of a panel, or None if the matrix has no place."""
        if (target, name) not in self._places:
            return None
        first, rows = self._places[target, name]
        return first + panel * rows
