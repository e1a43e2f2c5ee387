# SPDX-License-Identifier: BSD-2-Clause
"""A board's part of a graph: the rows of its own vertices, and those of others that it reads."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.host.processes.group import Group
from hypercast.reference.array_types import IntArray, IntMatrix, SparseArray
from hypercast.reference.rows import AllRows, Element
from hypercast.reference.tensor import FEATURES, Tensor

__all__ = ["Halo", "SharedRows"]


@dataclass(frozen=True)
class Halo:
    """What crosses before rows are summed over neighbours in one direction.

    Parameters
    ----------
    sent : dict
        Board to the rows here that it reads.
    received : dict
        Board to how many of its rows are read here.
    """

    sent: Mapping[int, IntArray]
    received: Mapping[int, int]


class SharedRows(AllRows):
    """The rows of some vertices; others have the rest.

    Parameters
    ----------
    ranks : (R,) array of int
        Rank of each row's vertex, ascending.
    trained : int
        Vertices to train on, of all boards.
    outgoing : scipy.sparse array
        Transposed edges, a row for each vertex here; columns are rows here, then those of the halo.
    halos : dict
        Whether edges are transposed, to what crosses for them.
    element_width : int
        Bits of a mantissa.
    features : array or scipy.sparse array
        The rows of X here; those of others are asked for once, as they never change.
    """

    def __init__(self, ranks: IntArray, trained: int, outgoing: SparseArray,
                 halos: Mapping[bool, Halo], element_width: int, features: IntMatrix) -> None:
        self._ranks = ranks
        self._trained = trained
        self._outgoing = outgoing
        self._halos = halos
        self._sent_type = np.dtype(f"int{element_width}")
        self._features = features
        self._all_features: IntMatrix | None = None
        self._group: Group | None = None

    def connect(self, group: Group) -> None:
        """From now on, rows of others come from them."""
        self._group = group

    @property
    def ranks(self) -> IntArray:
        return self._ranks

    def halo_rows(self, *, transposed: bool) -> int:
        """How many rows of others edges name, or transposed ones."""
        return sum(self._halos[transposed].received.values())

    def sent_rows(self, *, transposed: bool) -> dict[int, int]:
        """How many rows each other board reads, if it reads any."""
        return {board: len(rows) for board, rows in self._halos[transposed].sent.items()}

    def count_trained(self, count: int) -> int:
        return self._trained

    @property
    def shared(self) -> bool:
        return True

    def transpose(self, edges: SparseArray) -> SparseArray:
        return self._outgoing

    def with_neighbours(self, matrix: npt.NDArray[Element] | SparseArray, *, transposed: bool,
                        name: Tensor, exponent: int) -> npt.NDArray[Element] | SparseArray:
        constant = matrix is self._features
        if constant and self._all_features is not None:
            return self._all_features
        others = self.bring(lambda rows: _dense(matrix[rows]), matrix.shape[1],
                              transposed=transposed, name=name, exponent=exponent)
        if scipy.sparse.issparse(matrix):
            found = scipy.sparse.csr_array(scipy.sparse.vstack(
                [matrix, scipy.sparse.csr_array(others, dtype=matrix.dtype)]))
        else:
            found = np.concatenate([matrix, others.astype(matrix.dtype)])
        if constant:
            self._all_features = found
        return found

    def bring_features(self, exponent: int) -> IntMatrix:
        """Features of the rows here, and of those of others that edges come from."""
        found: IntMatrix = self.with_neighbours(
            self._features, transposed=False, name=FEATURES, exponent=exponent)
        return found

    def bring(self, rows_of: Callable[[IntArray], npt.NDArray[Any]], width: int, *,
                transposed: bool, name: Tensor, exponent: int) -> npt.NDArray[Any]:
        halo = self._halos[transposed]
        sent = {board: np.ascontiguousarray(rows_of(rows), dtype=self._sent_type)
                for board, rows in halo.sent.items()}
        received = {board: np.empty((count, width), dtype=self._sent_type)
                    for board, count in halo.received.items()}
        assert self._group
        self._group.exchange(sent, received)
        return np.concatenate([np.empty((0, width), dtype=self._sent_type),
                               *(received[board] for board in sorted(received))])


def _dense(matrix: npt.NDArray[Element] | SparseArray) -> npt.NDArray[Element]:
    return matrix.toarray() if isinstance(matrix, scipy.sparse.csr_array) else matrix
