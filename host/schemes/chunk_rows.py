# SPDX-License-Identifier: BSD-2-Clause
"""A whole graph in chunks that follow each other through a board's layers: which rows each reads.

It gives what ``StaleChunks`` does, chunk by chunk.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hypercast.host.schemes.graph_parts import renumber
from hypercast.host.schemes.shared_rows import Halo, SharedRows
from hypercast.reference.array_types import IntArray, IntMatrix, SparseArray
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.network import AGGREGATE_FIRST
from hypercast.reference.rows import AllRows, Element, Older
from hypercast.reference.sample import Mantissas, Sample
from hypercast.reference.stale_rows import (
    StaleChunks,
    align,
    is_exact,
    kept_rows,
    named_rows,
    to_come,
)
from hypercast.reference.tensor import FEATURES, Tensor

__all__ = ["ChunkRows", "GraphInChunks", "chunks_of", "in_rows_of_chunks", "with_own_rows"]

_NONE = np.empty(0, dtype=np.int64)


class GraphInChunks(AllRows):
    """All rows of a graph, and what chunks of it read of each other.

    A step on all rows at once is exact. It keeps the rows that chunks take in the step after it.

    Parameters
    ----------
    chunks : (V,) array of int
        Chunk of each vertex: its place in the order.
    edges : scipy.sparse.csr_array
        The graph's edges, row i holding those towards vertex i.
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

    def with_neighbours(self, matrix: npt.NDArray[Element] | SparseArray, *, transposed: bool,
                        name: Tensor, exponent: int) -> npt.NDArray[Element] | SparseArray:
        if not is_exact(name):
            self._now[name] = np.asarray(matrix, dtype=np.int64), exponent, transposed
        return matrix

    def bring(self, rows_of: Callable[[IntArray], npt.NDArray[Any]], width: int, *,
                transposed: bool, name: Tensor, exponent: int) -> npt.NDArray[Any]:
        if not is_exact(name):
            self.with_neighbours(rows_of(np.arange(len(self.chunks))), transposed=transposed,
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
        """All chunks have been: their rows are those of the step before from now on."""
        self._last = {name: kept_rows(rows[self._read[transposed]], exponent)
                      for name, (rows, exponent, transposed) in self._now.items()}
        self._now = {}

    @property
    def kept(self) -> dict[Tensor, Older]:
        """Rows of the step before, as those of ``StaleChunks``."""
        return dict(self._last)

    def keep(self, kept: Mapping[Tensor, Older]) -> None:
        """Go on with what ``kept`` gave."""
        self._last = dict(kept)


class ChunkRows(AllRows):
    """The rows of a chunk.

    Parameters
    ----------
    graph : GraphInChunks
        The rows of all chunks.
    ranks : (R,) array of int
        Rank of each row's vertex, ascending.
    trained : int
        Vertices to train on, of all chunks.
    outgoing : scipy.sparse array
        (R, V) transposed edges.
    others : dict
        Whether edges are transposed, to the ranks of the rows of others that they name, ascending.
    features : array or scipy.sparse array
        X of all vertices.
    """

    def __init__(self, graph: GraphInChunks, ranks: IntArray, trained: int, outgoing: SparseArray,
                 others: Mapping[bool, IntArray], features: IntMatrix) -> None:
        self._graph = graph
        self.others = others
        self._ranks = ranks
        self._trained = trained
        self._outgoing = outgoing
        self._features = features

    @property
    def ranks(self) -> IntArray:
        return self._ranks

    def count_trained(self, count: int) -> int:
        return self._trained

    def transpose(self, edges: SparseArray) -> SparseArray:
        return self._outgoing

    def with_neighbours(self, matrix: npt.NDArray[Element] | SparseArray, *, transposed: bool,
                        name: Tensor, exponent: int) -> npt.NDArray[Element] | SparseArray:
        if name == FEATURES:  # which have no dropout where they are summed
            return self._features
        assert isinstance(matrix, np.ndarray)
        return self._graph.collect(name, self._ranks, matrix.astype(np.int64), exponent,
                                 transposed=transposed).astype(matrix.dtype, copy=False)

    def bring(self, rows_of: Callable[[IntArray], npt.NDArray[Any]], width: int, *,
                transposed: bool, name: Tensor, exponent: int) -> npt.NDArray[Any]:
        if is_exact(name):
            return np.empty((0, width), dtype=np.int64)
        rows = rows_of(np.arange(len(self._ranks)))
        return self._graph.collect(name, self._ranks, rows, exponent,
                                 transposed=transposed)[self.others[transposed]]


def in_rows_of_chunks(model: InitialModel) -> InitialModel:
    """The model of one whose ``rows_here`` is ``StaleChunks``, with ``GraphInChunks`` there."""
    sample = model.sample
    assert isinstance(sample.rows_here, StaleChunks)
    return model.with_sample(replace(sample, rows_here=GraphInChunks(
        sample.rows_here.parts, sample.edges[0], sample.element_width)))


def chunks_of(sample: Sample) -> Iterator[Sample]:
    """The chunks of a whole graph's sample whose ``rows_here`` is ``GraphInChunks``, in order."""
    graph, edges, features = sample.rows_here, sample.edges[0], sample.features
    assert isinstance(graph, GraphInChunks)
    outgoing = edges.T.tocsr()
    for number in range(int(graph.chunks.max()) + 1):
        ranks = np.flatnonzero(graph.chunks == number)
        others = {transposed: np.setdiff1d(matrix[ranks].indices, ranks).astype(np.int64)
                  for transposed, matrix in ((False, edges), (True, outgoing))}
        yield replace(
            sample, edges=(edges[ranks],) * len(sample.edges),
            features=Mantissas(features.values[ranks], features.exponent),
            labels=sample.labels[ranks], splits=sample.splits[ranks],
            loss_weights=sample.loss_weights[ranks],
            rows_here=ChunkRows(graph, ranks, sample.training_vertices, outgoing[ranks],
                                others, features.values))


def with_own_rows(model: InitialModel, sample: Sample) -> InitialModel:
    """The model of a chunk, or of the whole graph, as a chip holds it.

    Its rows are those of the chunk, and below them those of others that its edges name.

    Parameters
    ----------
    model : InitialModel
        The whole graph's; its ``rows_here`` is ``GraphInChunks``.
    sample : Sample
        The chunk, as of ``chunks_of``; or that of the model.
    """
    whole, edges, rows_here = model.sample.features, sample.edges[0], sample.rows_here
    others, ranks = {False: _NONE, True: _NONE}, np.arange(len(sample.labels))
    if isinstance(rows_here, ChunkRows):
        others, ranks = dict(rows_here.others), rows_here.ranks
    local = {transposed: renumber(matrix, ranks, others[transposed]) for transposed, matrix in (
        (False, edges), (True, rows_here.transpose(edges)))}
    rows = ranks
    if AGGREGATE_FIRST in model.network.feature_orders:  # which never change
        rows = np.concatenate([ranks, others[False]])
    return model.with_sample(replace(
        sample, edges=(local[False],) * len(sample.edges),
        features=Mantissas(whole.values[rows], whole.exponent),
        rows_here=SharedRows(
            ranks, sample.training_vertices, local[True],
            {transposed: Halo(sent={}, received={0: len(rows)} if len(rows) else {})
             for transposed, rows in others.items()}, sample.element_width,
            sample.features.values)))
