# SPDX-License-Identifier: BSD-2-Clause
"""Windows of rows in which a product finds its left operand in the operand buffer.

A matrix that does not fit the buffer would be read again for every panel of the product. A few rows
of it fit with all their panels. So these are read once, and all panels of the product are made of
them before the next rows take their place.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from hypercast.host.compiler.vertices import Strip
from hypercast.rtl.config import Config

__all__ = ["Piece", "pieces_of"]

#: Most windows of a strip; each takes instructions for every panel of the product.
_MOST = 8
#: What they have to take less cycles by.
_GAIN = 0.97


class Piece(NamedTuple):
    """Rows and a panel of a product that are made and drained together.

    Attributes
    ----------
    panel : int
        The panel.
    strip : Strip
        The strip, or the block of a product, that the rows are of.
    window : Strip or None
        The rows, if they are not all of it.
    fill : bool
        Whether a window's left operand is read from memory, or in the operand buffer.
    stride : int
        Entries from panel to panel there: as many as the largest window has rows.
    """

    panel: int
    strip: Strip
    window: Strip | None = None
    fill: bool = False
    stride: int = 0

    @property
    def rows(self) -> Strip:
        """The rows."""
        return self.window or self.strip


def pieces_of(strips: Sequence[Strip], results: int, panels: int, entries: int, config: Config, *,
              whole: int, sweep: int, alike: bool, plain: Callable[[Strip], int],
              windowed: Callable[[Strip, bool], int]) -> list[Piece]:
    """The pieces of a product, in the order in which they are made.

    Parameters
    ----------
    strips : sequence of Strip
        Blocks of the rows of the largest core.
    results, panels : int
        Panels of the product, and of its left operand.
    entries : int
        Entries of the operand buffer that a left operand has which does not fit; else 0.
    config : Config
        Configuration of the chip.
    whole : int
        First panels of the product that are made of whole blocks in any case.
    sweep : int
        Panels of the product that are made at most while windows pass once; 0 for all.
    alike : bool
        Whether all blocks have windows as the first one has, some of them empty if the last ones
        have fewer rows.
    plain : callable
        Cycles of a panel of the product, of a whole strip.
    windowed : callable
        Cycles of a panel of the product, of all of a window's rows; read from memory or not.
    """
    rest = range(min(whole, results), results)
    most = entries // panels // config.mask_rows * config.mask_rows
    windows = [(strip, window) for strip in strips for window in _windows(
        strip, strips[0].rows if alike else strip.rows, most, config)]
    sweeps = _sweeps(rest, sweep or results)
    if not _gain(windows, strips, sweeps, plain, windowed):
        return [Piece(panel, strip) for panel in range(results) for strip in strips]
    return [*(Piece(panel, strip) for panel in range(rest.start) for strip in strips),
            *(Piece(panel, strip, window, panel == panels.start, windows[0][1].rows)
              for panels in sweeps for strip, window in windows for panel in panels)]


def _sweeps(panels: range, most: int) -> list[range]:
    """Panels in runs of ``most``; the first run has what is left over."""
    first = len(panels) % most
    starts = [panels.start, *range(panels.start + first, panels.stop, most)]
    return [range(start, stop) for start, stop in pairwise([*dict.fromkeys(starts), panels.stop])]


def _gain(windows: Sequence[tuple[Strip, Strip]], strips: Sequence[Strip], sweeps: Sequence[range],
          plain: Callable[[Strip], int], windowed: Callable[[Strip, bool], int]) -> bool:
    """Whether windows take less cycles than strips, and are not too many."""
    if not windows or len(windows) > _MOST * len(strips):
        return False
    results = sum(map(len, sweeps))
    before = results * sum(map(plain, strips))
    after = sum(len(sweeps) * windowed(window, True)
                + (results - len(sweeps)) * windowed(window, False) for _, window in windows)
    return after < _GAIN * before


def _windows(strip: Strip, rows: int, most: int, config: Config) -> list[Strip]:
    """Windows of nearly the same size, at most so many rows; of whole words of masks.

    A strip of so many ``rows`` would have them; they end with this one.
    """
    if not most:
        return []
    count = -(-rows // most)
    size = -(-rows // (count * config.mask_rows)) * config.mask_rows
    last = strip.first + strip.rows
    return [Strip(first=first, rows=max(0, min(size, last - first)))
            for first in range(strip.first, strip.first + rows, size)]
