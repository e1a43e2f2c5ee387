# SPDX-License-Identifier: BSD-2-Clause
"""Groups of panels whose turn it is to be in the operand buffer, for the gradient of weights.

The left operand of a gradient is read again for every panel of the right one. If it does not fit
the buffer, a group of its panels that does is read once, and meets all panels of the right operand
before the next group takes its place. Each group then passes with a panel's right operand read once
more.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

__all__ = ["Run", "runs_of"]

#: What groups have to take less cycles by.
_GAIN = 0.97


class Run(NamedTuple):
    """Tiles that a GRADIENT reduces one after the other.

    Attributes
    ----------
    panel : int
        Panel of the right operand.
    first, tiles : int
        First panel of the left operand, and how many panels: each makes a tile.
    row : int
        Reduction row of the first tile.
    start : int or None
        First panel of the group, if groups take turns in the operand buffer.
    fill : bool
        Whether a group's panels are read from memory, or in the operand buffer.
    """

    panel: int
    first: int
    tiles: int
    row: int
    start: int | None = None
    fill: bool = False


def runs_of(parts: Sequence[Run], cuts: Sequence[int], held: int, tile: int,
            cycles: Callable[..., int], *, kept: int) -> list[Run]:
    """Groups of panels that are reduced together, in the order of the fewest cycles.

    Parameters
    ----------
    parts : sequence of Run
        Tiles that are to be reduced.
    cuts : sequence of int
        Panels of the left operand that an instruction's panels must not reach across; panels before
        the last one, of a dense operand, are in the operand buffer.
    held : int
        Panels of a group; 0 if there are none.
    tile : int
        Reduction rows of a tile.
    cycles : callable
        Cycles of a ``Run``, ``reading`` from memory or not.
    kept : int
        First panels of the left operand that are in the operand buffer if groups take no turns.
    """
    plain = [run for part in parts for run in _cut_run(part, cuts, tile)]
    if not held:
        return plain
    groups = list(_group(parts, held, tile))
    before = sum(cycles(run, reading=run.first >= kept) for run in plain)
    after = sum(cycles(run, reading=run.fill) for run in groups)
    return groups if after < _GAIN * before else plain


def _cut_run(part: Run, cuts: Sequence[int], tile: int) -> Iterator[Run]:
    last = part.first + part.tiles
    inside = [cut for cut in cuts if part.first < cut < last]
    for first, end in pairwise([part.first, *inside, last]):
        yield Run(part.panel, first, end - first, part.row + (first - part.first) * tile)


def _group(parts: Sequence[Run], held: int, tile: int) -> Iterator[Run]:
    last = max(part.first + part.tiles for part in parts)
    cuts = range(0, last, held)
    runs = [run for part in parts for run in _cut_run(part, cuts, tile)]
    for start in cuts:
        present: set[int] = set()
        for run in runs:
            if start <= run.first < start + held:
                panels = set(range(run.first, run.first + run.tiles))
                yield run._replace(start=start, fill=not panels <= present)
                present |= panels
