# SPDX-License-Identifier: BSD-2-Clause
"""Rows of the step before in place of this step's rows: stale halos, as one process has them.

The graph's vertices are in parts. Sums over neighbours take the present rows of a vertex's own
part, and the rows of other parts from the step before (Wan et al., PipeGCN: Efficient Full-Graph
Training of Graph Convolutional Networks with Pipelined Feature Communication, ICLR 2022). So boards
that have a part each need not wait for them.

Or the vertices are in chunks, which follow each other through the layers of a pipeline. Then sums
take present rows of the chunks that went before, and rows of the chunks to come from the step
before (Chen et al., GNNPipe: Scaling Deep GNN Training with Pipelined Model Parallelism, 2023).
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.reference.arithmetic import requantize, rounded_shift
from hypercast.reference.array_types import BoolArray, IntArray, SparseArray
from hypercast.reference.rows import AllRows, Element, Older
from hypercast.reference.tensor import FEATURES, Pass, Tensor

__all__ = ["SMOOTHING_ONE", "KeptRows", "StaleChunks", "StaleParts", "align", "is_exact",
           "kept_rows", "named_rows", "to_come"]

#: The smoothing with which rows would never change.
SMOOTHING_ONE = 1 << 16
#: Bits below a mantissa's last one, so that small changes are not lost in a mean.
_FRACTION = 8
_KEPT_WIDTH = 32


def is_exact(name: Tensor) -> bool:
    """Whether rows of a tensor are never stale: features, and rows of an evaluation."""
    return name == FEATURES or name.during == Pass.EVALUATION


class KeptRows:
    """Some rows of tensors, as they were in the step before, or the running mean of all before.

    The mean of step ``t`` is ``s * mean + (1 - s) * rows``, where ``s`` is the smoothing; the first
    one is the rows. Its exponent is 8 less than theirs. The mean before is rounded to that exponent
    first, and limited to 32 bits; then the new one is rounded to an integer, both half to even.

    Parameters
    ----------
    element_width : int
        Bits of a mantissa.
    smoothing : int
        ``s`` in units of ``1 / SMOOTHING_ONE``; 0 keeps the last rows.
    """

    def __init__(self, element_width: int, smoothing: int) -> None:
        self._width = element_width
        self._smoothing = smoothing
        self._kept: dict[Tensor, Older] = {}
        #: Rows that this step leaves for the next one.
        self._next: dict[Tensor, Older] = {}

    def replace(self, name: Tensor, rows: IntArray, exponent: int) -> IntArray:
        """What stands for rows of this step, which are kept for the next one.

        In the first step, that is the rows themselves. All that sum rows of a tensor in a step get
        the same.
        """
        old = self._kept.get(name)
        new, unit = kept_rows(rows, exponent)
        if old is None:
            self._next[name] = Older(new, unit)
            return rows
        mean = align(old, unit, _KEPT_WIDTH)
        new = rounded_shift(
            self._smoothing * mean + (SMOOTHING_ONE - self._smoothing) * new, 16)
        self._next[name] = Older(new, unit)
        return align(old, exponent, self._width)

    def end_step(self) -> None:
        """End the step: the next one takes the rows that it left."""
        self._kept |= self._next
        self._next = {}

    @property
    def kept(self) -> dict[Tensor, Older]:
        """Everything that is kept."""
        return dict(self._kept)

    def load(self, kept: Mapping[Tensor, Older]) -> None:
        """Go on with the rows that ``kept`` gave."""
        self._kept, self._next = dict(kept), {}


def kept_rows(rows: IntArray, exponent: int) -> Older:
    """Rows to keep for the next step, with their bits of fraction."""
    return Older(rows.astype(np.int64) << _FRACTION, exponent - _FRACTION)


def align(kept: Older, exponent: int, width: int) -> IntArray:
    """Rows with another exponent: rounded, or saturated."""
    shift = exponent - kept.exponent
    if shift < 0:
        # More would saturate whatever is not zero.
        values, shift = kept.values << min(-shift, 31), 0
        return requantize(values, 0, width)[0]
    return requantize(kept.values, min(shift, 63), width)[0]


class StaleParts(AllRows):
    """All rows of a graph in parts, whose rows reach each other a step late.

    Parameters
    ----------
    parts : (V,) array of int
        Part of each vertex.
    edges : scipy.sparse.csr_array
        The graph's edges, row i holding the edges towards vertex i.
    element_width, smoothing : int
        As of ``KeptRows``.

    Attributes
    ----------
    parts
        As given.
    """

    def __init__(self, parts: IntArray, edges: SparseArray, element_width: int,
                 smoothing: int) -> None:
        self.parts = parts
        self._rows = KeptRows(element_width, smoothing)
        #: Whether edges are transposed, to the vertices that other parts read.
        self._read = {transposed: named_rows(matrix, self._crosses(matrix, transposed=transposed))
                      for transposed, matrix in ((False, edges), (True, edges.T.tocsr()))}

    def _crosses(self, edges: SparseArray, *, transposed: bool) -> BoolArray:
        """Whether each edge takes the row of the step before."""
        owner, source = _ends(edges, self.parts)
        found: BoolArray = owner != source
        return found

    def forward(self, edges: SparseArray) -> SparseArray:
        """Edges within parts, then edges from vertices that other parts read."""
        return self._split(edges, transposed=False)

    def transpose(self, edges: SparseArray) -> SparseArray:
        """Transposed edges, split as in ``forward``."""
        return self._split(edges.T.tocsr(), transposed=True)

    def _split(self, edges: SparseArray, *, transposed: bool) -> SparseArray:
        crossing = self._crosses(edges, transposed=transposed)
        targets, sources = edges.tocoo().coords
        inside, outside = (scipy.sparse.csr_array(
            (edges.data[chosen], (targets[chosen], sources[chosen])), shape=edges.shape)
            for chosen in (~crossing, crossing))
        return scipy.sparse.csr_array(
            scipy.sparse.hstack([inside, outside[:, self._read[transposed]]], format="csr"))

    def with_neighbours(self, matrix: npt.NDArray[Element] | SparseArray, *, transposed: bool,
                        name: Tensor, exponent: int) -> npt.NDArray[Element] | SparseArray:
        rows = matrix[self._read[transposed]]
        if isinstance(matrix, scipy.sparse.csr_array):
            return scipy.sparse.csr_array(scipy.sparse.vstack([matrix, rows], format="csr"))
        if not is_exact(name):
            rows = self._rows.replace(
                name, np.asarray(rows, dtype=np.int64), exponent).astype(matrix.dtype)
        return np.concatenate([matrix, rows])

    def end_step(self) -> None:
        self._rows.end_step()

    @property
    def kept(self) -> dict[Tensor, Older]:
        """Rows of the vertices that other parts read, in the order of ranks."""
        return self._rows.kept

    def keep(self, kept: Mapping[Tensor, Older]) -> None:
        """Go on with the rows that ``kept`` gave."""
        self._rows.load(kept)


class StaleChunks(StaleParts):
    """All rows of a graph in chunks, which go through layers in order, and back in reverse.

    On the way there, a chunk takes rows of the step before of later chunks; on the way back, of the
    chunks before it. So rows that it took of this step have gradients of this step.

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
        super().__init__(chunks, edges, element_width, 0)

    def _crosses(self, edges: SparseArray, *, transposed: bool) -> BoolArray:
        return to_come(edges, self.parts, transposed=transposed)


def to_come(edges: SparseArray, chunks: IntArray, *, transposed: bool) -> BoolArray:
    """Whether each edge takes the row of a chunk that has not been yet when it is needed."""
    target, source = _ends(edges, chunks)
    found: BoolArray = source < target if transposed else source > target
    return found


def _ends(edges: SparseArray, parts: IntArray) -> tuple[IntArray, IntArray]:
    """The part of each edge's target, and of its source."""
    targets = np.repeat(np.arange(edges.shape[0]), np.diff(edges.indptr))
    return parts[targets], parts[edges.indices]


def named_rows(edges: SparseArray, chosen: BoolArray) -> IntArray:
    """The sources of some edges, in order."""
    return np.unique(edges.indices[chosen]).astype(np.int64)
