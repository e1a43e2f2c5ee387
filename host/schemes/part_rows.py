# SPDX-License-Identifier: BSD-2-Clause
"""Rows of a part of a graph: its own vertices', and below them rows of others that it reads."""

import abc
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.reference.array_types import IntArray, IntMatrix, SparseArray
from hypercast.reference.rows import AllRows, Element, Older
from hypercast.reference.tensor import FEATURES, Tensor

__all__ = ["OtherRows", "PartRows"]


class OtherRows(abc.ABC):
    """Source of the rows of other parts that the edges of one part name."""

    #: Whether features are brought once, and then kept below the part's own.
    keeps_features = False

    @abc.abstractmethod
    def count(self, *, transposed: bool) -> int:
        """How many rows of others the edges name, or the transposed ones."""

    @abc.abstractmethod
    def bring(self, rows_of: Callable[[IntArray], npt.NDArray[Any]], width: int, *,
              transposed: bool, name: Tensor, exponent: int) -> npt.NDArray[Any]:
        """Bring the rows of others, in order; parameters as of ``AllRows.bring``."""

    def end_step(self) -> None:  # noqa: B027 - exact rows leave nothing
        """End a step: the next one takes what it left."""

    @property
    def kept(self) -> dict[Tensor, Older]:
        """Rows of others that the next step takes."""
        return {}

    def keep(self, kept: Mapping[Tensor, Older]) -> None:  # noqa: B027
        """Go on with the rows that all parts keep, as a ``TrainingState`` has them."""


class PartRows(AllRows):
    """The rows of some vertices of a graph.

    Columns of edges are rows here, then the rows of others.

    Parameters
    ----------
    ranks : (R,) array of int
        Rank of each row's vertex, ascending.
    trained : int
        Vertices to train on, of all parts.
    outgoing : scipy.sparse array
        Transposed edges, a row for each vertex here.
    others : OtherRows
        The rows of others.

    Attributes
    ----------
    others : OtherRows
        As given.
    """

    def __init__(self, ranks: IntArray, trained: int, outgoing: SparseArray,
                 others: OtherRows) -> None:
        self.others = others
        self._ranks = ranks
        self._trained = trained
        self._outgoing = outgoing
        self._features: IntMatrix | None = None

    @property
    def ranks(self) -> IntArray:
        return self._ranks

    def count_trained(self, count: int) -> int:
        return self._trained

    def halo_rows(self, *, transposed: bool) -> int:
        return self.others.count(transposed=transposed)

    @property
    def shared(self) -> bool:
        return True

    def transpose(self, edges: SparseArray) -> SparseArray:
        return self._outgoing

    def with_neighbours(self, matrix: npt.NDArray[Element] | SparseArray, *, transposed: bool,
                        name: Tensor, exponent: int) -> npt.NDArray[Element] | SparseArray:
        if name == FEATURES and self._features is not None:
            return self._features
        others = self.bring(lambda rows: matrix[rows], matrix.shape[1], transposed=transposed,
                            name=name, exponent=exponent)
        if scipy.sparse.issparse(matrix):
            found = scipy.sparse.csr_array(scipy.sparse.vstack(
                [matrix, scipy.sparse.csr_array(others, dtype=matrix.dtype)]))
        else:
            found = np.concatenate([matrix, others.astype(matrix.dtype, copy=False)])
        if name == FEATURES and self.others.keeps_features:
            self._features = found
        return found

    def bring(self, rows_of: Callable[[IntArray], npt.NDArray[Any]], width: int, *,
              transposed: bool, name: Tensor, exponent: int) -> npt.NDArray[Any]:
        return self.others.bring(rows_of, width, transposed=transposed, name=name,
                                 exponent=exponent)

    def end_step(self) -> None:
        self.others.end_step()

    @property
    def kept(self) -> dict[Tensor, Older]:
        return self.others.kept

    def keep(self, kept: Mapping[Tensor, Older]) -> None:
        self.others.keep(kept)
