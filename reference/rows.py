"""Which rows of its matrices a process has: all of them, unless several share a graph."""

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from hypercast.reference.array_types import IntArray, SparseArray

__all__ = ["AllRows"]

Element = TypeVar("Element", bound=np.generic)


class AllRows:
    """All rows are here: row ``k`` is the vertex of rank ``k``."""

    @property
    def ranks(self) -> IntArray | None:
        """Rank of each row's vertex; None if it is the row's number."""
        return None

    def trained(self, count: int) -> int:
        """How many vertices all processes train on, if ``count`` are here."""
        return count

    def transposed(self, edges: SparseArray) -> SparseArray:
        """The edges from the vertices that are here: a row for each."""
        return edges.T.tocsr()

    def with_neighbours(self, matrix: npt.NDArray[Element] | SparseArray, *,
                        transposed: bool) -> npt.NDArray[Element] | SparseArray:
        """A matrix, and below it the rows of others that edges name, or transposed ones."""
        return matrix
