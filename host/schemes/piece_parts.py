# SPDX-License-Identifier: BSD-2-Clause
"""Runs a piece of a step whose parts begin when rows of others have come."""

from collections.abc import Callable

from hypercast.host.compiler.piece_program import EVALUATE
from hypercast.host.compiler.pieces import Pieces
from hypercast.host.runtime.stepped_chip import SteppedChip
from hypercast.reference.metrics import Metrics
from hypercast.reference.tensor import Tensor

__all__ = ["run_parts"]


def run_parts(chip: SteppedChip, pieces: Pieces, piece: str,
              cross: Callable[[int, Tensor], None]) -> tuple[Metrics, int]:
    """All parts of a piece; returns the last one's metrics, and saturations of all.

    Parameters
    ----------
    chip : SteppedChip
        What runs it.
    pieces : Pieces
        What the chip holds.
    piece : str
        One of ``PIECES``.
    cross : callable
        Is told the number of a part (from 0) and of which tensor it needs rows of others, before
        the part begins.
    """
    saturations = 0
    for number, (entry, name) in enumerate(pieces.parts(piece)):
        if name is not None:
            cross(number, name)
        metrics, saturated = chip.run_entry(entry, training=piece != EVALUATE)
        saturations += saturated
    return metrics, saturations
