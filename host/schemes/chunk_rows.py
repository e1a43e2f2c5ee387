# SPDX-License-Identifier: BSD-2-Clause
"""A whole graph in chunks that follow each other through a board's layers: which rows each reads.

It gives what ``StaleChunks`` does, chunk by chunk.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hypercast.host.schemes.part_rows import OtherRows
from hypercast.reference.array_types import IntArray, IntMatrix, SparseArray
from hypercast.reference.rows import AllRows, Element, Older
from hypercast.reference.stale_rows import align, is_exact, kept_rows, named_rows, to_come
from hypercast.reference.tensor import FEATURES, Tensor

__all__ = ["ChunkNeighbours", "GraphInChunks"]


class GraphInChunks(AllRows):
    """All rows of a graph, and what chunks of it read of each other.

    A step on all rows at once is exact. It keeps the rows that chunks take in the step after it.

    Parameters
    ----------
    chunks : (V,) array of int
        Chunk of each vertex: its place in the order.
    edges : scipy.sparse.csr_array
        The graph's edges, row i holding the edges towards vertex i.
    element_width : int
        Bits of a mantissa.
    """

    def __init__(self, chunks: IntArray, edges: SparseArray, element_width: int) -> None:
        self.chunks = chunks
        self._width = element_width
        directions = {False: edges, True: edges.T.tocsr()}
        self._read = {transposed: named_rows(matrix, to_come(
            matrix, chunks, transposed=transposed)) for transposed, matrix in directions.items()}
        self._last: dict[Tensor, Older] = {}
        #: Of this step: of each tensor, the rows of chunks that have been, and below these older
        #: ones; its exponent; and whether it is read along transposed edges.
        self._now: dict[Tensor, tuple[IntArray, int, bool]] = {}

    @property
    def ranks(self) -> IntArray:
        return np.arange(len(self.chunks))

    @property
    def shared(self) -> bool:
        return True  # programs stop before each sum, whose rows chunks take in the next step

    def with_neighbours(self, matrix: npt.NDArray[Element] | SparseArray, *, transposed: bool,
                        name: Tensor, exponent: int) -> npt.NDArray[Element] | SparseArray:
        if not is_exact(name):
            self._now[name] = np.asarray(matrix, dtype=np.int64), exponent, transposed
        return matrix

    def bring(self, rows_of: Callable[[IntArray], npt.NDArray[Any]], width: int, *,
                transposed: bool, name: Tensor, exponent: int) -> npt.NDArray[Any]:
        if not is_exact(name):
            self.with_neighbours(rows_of(self.ranks), transposed=transposed,
                                 name=name, exponent=exponent)
        return np.empty((0, width), dtype=np.int64)

    def collect(self, name: Tensor, ranks: IntArray, rows: IntArray, exponent: int, *,
              transposed: bool) -> IntArray:
        """Take in a chunk's rows of a tensor; the rows of all vertices that it reads."""
        if name not in self._now:
            found = np.zeros((len(self.chunks), rows.shape[1]), dtype=np.int64)
            found[self._read[transposed]] = align(self._last[name], exponent, self._width)
            self._now[name] = found, exponent, transposed
        found = self._now[name][0]
        found[ranks] = rows
        return found

    def end_step(self) -> None:
        """End the step: all chunks have been, and their rows are the older ones from now on."""
        self._last = {name: kept_rows(rows[self._read[transposed]], exponent)
                      for name, (rows, exponent, transposed) in self._now.items()}
        self._now = {}

    @property
    def kept(self) -> dict[Tensor, Older]:
        """Rows of the step before, as of ``StaleChunks``."""
        return dict(self._last)

    def keep(self, kept: Mapping[Tensor, Older]) -> None:
        """Go on with what ``kept`` gave."""
        self._last = dict(kept)


class ChunkNeighbours(OtherRows):
    """Rows of other chunks that the edges of one chunk name.

    Parameters
    ----------
    graph : GraphInChunks
        The rows of all chunks.
    ranks : (R,) array of int
        Rank of each row's vertex of this chunk, ascending.
    named : dict
        Whether edges are transposed, to the ranks of the rows of others that they name, ascending.
    features : array or scipy.sparse array
        X of all vertices.
    """

    def __init__(self, graph: GraphInChunks, ranks: IntArray, named: Mapping[bool, IntArray],
                 features: IntMatrix) -> None:
        self._graph = graph
        self._ranks = ranks
        self._named = named
        self._features = features

    def count(self, *, transposed: bool) -> int:
        return len(self._named[transposed])

    def bring(self, rows_of: Callable[[IntArray], npt.NDArray[Any]], width: int, *,
              transposed: bool, name: Tensor, exponent: int) -> npt.NDArray[Any]:
        named = self._named[transposed]
        if name == FEATURES:  # which never change
            return self._features[named]
        rows = rows_of(np.arange(len(self._ranks)))
        return self._graph.collect(name, self._ranks, rows, exponent, transposed=transposed)[named]
