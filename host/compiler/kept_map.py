"""Which results the vector unit keeps for whoever sends or reduces them next, and where."""

from collections.abc import Iterable

from hypercast.reference.tensor import Tensor
from hypercast.rtl.config import Config
from hypercast.rtl.isa import Keep

__all__ = ["KeptMap"]


class KeptMap:
    """Gives places in the memories of ``Keep.RIGHT`` and ``Keep.SEND``, first come first served.

    What does not fit is read from memory.

    Parameters
    ----------
    config : Config
        Gives ``kept_rows``, the memories' size.
    wanted : iterable of (Keep, Tensor, int, int)
        Memory, matrix, panels and rows of a panel.
    """

    def __init__(self, config: Config, wanted: Iterable[tuple[Keep, Tensor, int, int]]) -> None:
        self._places: dict[tuple[Keep, Tensor], tuple[int, int]] = {}
        used = {Keep.RIGHT: 0, Keep.SEND: 0}
        for target, name, panels, rows in wanted:
            if used[target] + panels * rows <= config.kept_rows:
                self._places[target, name] = used[target], rows
                used[target] += panels * rows

    def base(self, target: Keep, name: Tensor, panel: int) -> int | None:
        """First word of a panel, or None if the matrix has no place."""
        if (target, name) not in self._places:
            return None
        first, rows = self._places[target, name]
        return first + panel * rows
