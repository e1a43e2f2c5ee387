# SPDX-License-Identifier: BSD-2-Clause
"""Which core holds which vertex.

Vertices are ranked by the host, independently of the number of cores, and dealt to the cores in
snake order: rank ``k`` is row ``k // N``, and in odd rows the cores take their cards in reverse.
A vertex's rank is what dropout hashes, so it is the same at any number of cores, and hardware
derives it from core and row with a few gates. This module imports no Amaranth.
"""

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["SPREAD", "core_of", "rank_of", "row_of", "rows_of"]

#: Vertices from which on the host ranks them in blocks, each with vertices of all degrees. Smaller
#: graphs are a few strips of rows on boards whose channels hold graphs of this size.
SPREAD = 1 << 17
#: An integer, or an array of them.
Number = TypeVar("Number", int, npt.NDArray[np.integer[Any]])


def core_of(rank: Number, cores: int) -> Number:
    """Core that holds ``rank`` (integers or integer arrays); ``cores`` is a power of two."""
    return (rank % cores) ^ ((cores - 1) * ((rank // cores) & 1))


def row_of(rank: Number, cores: int) -> Number:
    """Local row of ``rank`` on its core."""
    return rank // cores


def rank_of(core: int | Number, row: Number, cores: int) -> Number:
    """Rank of the vertex in ``row`` of ``core``: the inverse of ``core_of`` and ``row_of``."""
    return row * cores + (core ^ ((cores - 1) * (row & 1)))


def rows_of(core: int, vertices: int, cores: int) -> int:
    """Number of rows ``core`` holds when ``vertices`` are dealt to ``cores``."""
    full, rest = divmod(vertices, cores)
    return full + (1 if core_of(full * cores + (core ^ ((cores - 1) * (full & 1))), cores) == core
                   and (core ^ ((cores - 1) * (full & 1))) < rest else 0)
