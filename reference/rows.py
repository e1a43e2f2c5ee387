# SPDX-License-Identifier: BSD-2-Clause
"""Which rows of its matrices a process has: all of them, unless several share a graph."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from hypercast.reference.array_types import IntArray, SparseArray
from hypercast.reference.tensor import Tensor

__all__ = ["AllRows", "Element", "Older"]

Element = TypeVar("Element", bound=np.generic)


class Older(NamedTuple):
    """A tensor of a step, or rows of it, that a later step takes.

    Attributes
    ----------
    values : array of int64
        Mantissas.
    exponent : int
        Exponent of the mantissas.
    """

    values: IntArray
    exponent: int


class AllRows:
    """All rows are here: row ``k`` is the vertex of rank ``k``."""

    @property
    def ranks(self) -> IntArray | None:
        """Rank of each row's vertex; None if it is the row's number."""
        return None

    def count_trained(self, count: int) -> int:
        """How many vertices all processes train on, if ``count`` are here."""
        return count

    def halo_rows(self, *, transposed: bool) -> int:
        """How many rows of others edges name, or transposed ones."""
        return 0

    @property
    def shared(self) -> bool:
        """Whether others have rows of the same matrices."""
        return False

    def forward(self, edges: SparseArray) -> SparseArray:
        """The edges towards the vertices that are here: a row for each."""
        return edges

    def transpose(self, edges: SparseArray) -> SparseArray:
        """The edges from the vertices that are here: a row for each."""
        return edges.T.tocsr()

    def with_neighbours(self, matrix: npt.NDArray[Element] | SparseArray, *, transposed: bool,
                        name: Tensor, exponent: int) -> npt.NDArray[Element] | SparseArray:
        """A matrix, and below it the rows of others that edges name, or transposed ones.

        Parameters
        ----------
        matrix : array
            Mantissas, a row for each vertex that is here.
        transposed : bool
            Whether edges are transposed.
        name : Tensor
            Which tensor it is.
        exponent : int
            Exponent of the tensor.
        """
        return matrix

    def bring(self, rows_of: Callable[[IntArray], npt.NDArray[Any]], width: int, *,
                transposed: bool, name: Tensor, exponent: int) -> npt.NDArray[Any]:
        """The rows of others that ``with_neighbours`` adds; others get the rows that they read.

        Parameters
        ----------
        rows_of : callable
            Gives some of the rows here: mantissas.
        width : int
            Columns of them.
        transposed, name, exponent
            As of ``with_neighbours``.
        """
        return np.empty((0, width), dtype=np.int64)

    def end_step(self) -> None:
        """End the step: its rows are the older rows of the next step."""

    @property
    def kept(self) -> dict[Tensor, Older]:
        """The rows that a later step takes of this one; they are not in the ``TrainingState``."""
        return {}

    def keep(self, kept: Mapping[Tensor, Older]) -> None:
        """Go on with the rows that ``kept`` gave."""
