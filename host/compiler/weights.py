# SPDX-License-Identifier: BSD-2-Clause
"""Where parameters lie in the weight bank, and in what parts they are reduced and updated."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hypercast.host.compiler.memory_map import Region
from hypercast.host.compiler.reduction import Portion
from hypercast.reference.tensor import Tensor
from hypercast.rtl.config import Config

__all__ = ["Weights", "first_panels"]


@dataclass(frozen=True, kw_only=True)
class Weights:
    """Where a weight matrix (or bias) and its optimiser state lie.

    Parameters
    ----------
    name : Tensor
        ``W1``, ``b1``, ...
    shape : tuple of int
        Rows (input features; 1 for a bias) and columns.
    base : int
        First row in the weight bank.
    height : int
        Rows a panel takes in the weight bank: whole tiles of ``lanes``, or 1 of a bias.
    panels : int
        Panels of ``lanes`` columns. Feature ``f`` of panel ``j`` is bank row ``j * height + f``
        from ``base`` on.
    state : Region
        Masters and momenta, and Adam's second moments, sharded over the cores by bank rows: row
        ``r`` is with core ``r mod cores``, as its row ``r div cores``. With ``kept``, sums of
        gradients precede them.
    portions : tuple of Portion
        What every UPDATE works on, in order of rows.
    adam : bool
        Whether there are second moments.
    kept : bool
        Whether sums of gradients are kept beside the state.
    """

    name: Tensor
    shape: tuple[int, int]
    base: int
    height: int
    panels: int
    state: Region
    portions: tuple[Portion, ...]
    adam: bool = False
    kept: bool = False

    @property
    def rows(self) -> int:
        """Rows taken in the weight bank."""
        return self.panels * self.height

    @property
    def state_values(self) -> int:
        """32-bit values of a weight's state, and of its kept sums."""
        return (3 if self.adam else 2) + (2 if self.kept else 0)

    def parts(self, rows: range) -> Iterator[tuple[int, range]]:
        """(panel, its rows) of every panel that a range of bank rows has rows of."""
        for panel in range(rows.start // self.height, -(-rows.stop // self.height)):
            first = panel * self.height
            yield panel, range(max(rows.start - first, 0), min(rows.stop - first, self.height))


def first_panels(matrices: Iterable[Weights], config: Config) -> list[int]:
    """First panels of the runs of a left operand that the parts of its weight gradients take.

    Parameters
    ----------
    matrices : iterable of Weights
        The weights that the operand is multiplied by.
    config : Config
        Gives the lanes.
    """
    return sorted({part.start // config.lanes
                   for weights in matrices for portion in weights.portions
                   for _, part in weights.parts(portion.rows)})
