# SPDX-License-Identifier: BSD-2-Clause
"""Rows of a large matrix, some at a time, so that what is computed of them on the way is small."""

import math
from collections.abc import Iterator

__all__ = ["BLOCK_ELEMENTS", "row_blocks"]

#: Most elements of a block of several rows.
BLOCK_ELEMENTS = 1 << 22


def row_blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Slices of an array's first axis, in order.

    Parameters
    ----------
    shape : tuple of int
        Shape of the array. If it has no rows, there is one slice, which is empty.
    """
    rows, *others = shape
    step = max(1, BLOCK_ELEMENTS // max(1, math.prod(others)))
    for first in range(0, max(1, rows), step):
        yield slice(first, min(first + step, rows))
