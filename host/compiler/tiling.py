# SPDX-License-Identifier: BSD-2-Clause
"""In what order parts of matrices are worked on that do not fit close to the engines."""

from dataclasses import dataclass

__all__ = ["PLAIN", "SWEEPS", "Tiling"]

#: What the cycle model chooses a ``Tiling``'s ``sweep`` from.
SWEEPS = (0, 1, 3)


@dataclass(frozen=True, kw_only=True)
class Tiling:
    """In what order parts of matrices are worked on that do not fit close to the engines.

    Parameters
    ----------
    turns : bool
        Whether parts of a left operand that does not fit the operand buffer take turns there. If
        not, it is read from memory whenever it is used.
    sweep : int
        Panels of a product that are made at most while the parts pass once; 0 for all. With fewer,
        the operand is read more often, and the first panels are complete sooner.
    backward_strips : bool
        Whether the backward pass aggregates all panels of a strip of rows before the next strip, as
        the forward pass does; if not, all strips of a panel before the next panel.
    """

    turns: bool = True
    sweep: int = 0
    backward_strips: bool = True


#: The tiling of rows in one strip.
PLAIN = Tiling()
