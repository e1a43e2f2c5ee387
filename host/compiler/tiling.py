# SPDX-License-Identifier: BSD-2-Clause
"""In what order parts of matrices are worked on that do not fit close to the engines."""

from dataclasses import dataclass

__all__ = ["LOOPED", "PLAIN", "SWEEPS", "Tiling"]

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
        Panels of a product of the forward pass that are made at most while the parts pass once; 0
        for all. With fewer, the operand is read more often, and the first panels are complete
        sooner. What is made of products of the backward pass takes all of their panels.
    forward_strips, backward_strips : bool
        Whether the forward pass, and the backward pass, aggregate all panels of a strip of rows
        before the next strip; if not, all strips of a panel before the next panel. What is not a
        product of this step has all of its panels from the start: its sums are always made by
        strips, since what multiplies them takes all panels of some rows.
    loops : bool
        Whether the program is rolled up into loops over strips, if it can be.
    """

    turns: bool = True
    sweep: int = 0
    forward_strips: bool = True
    backward_strips: bool = True
    loops: bool = False

    def by_strips(self, *, backward: bool, combined: bool) -> bool:
        """Whether all panels of a strip of rows are aggregated before the next strip.

        In a pass, of a product of that pass with the weights, ``combined``, or of anything else.
        """
        if backward:
            return self.backward_strips
        return self.forward_strips or not combined


#: The tiling of rows in one strip.
PLAIN = Tiling()
#: Tilings of programs in loops, of which the cycle model chooses one.
LOOPED = tuple(Tiling(sweep=sweep, forward_strips=sweep != 1, loops=True) for sweep in SWEEPS)
