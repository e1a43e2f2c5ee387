# SPDX-License-Identifier: BSD-2-Clause
"""The mini-batch of a training step on a sample."""

from dataclasses import dataclass

from hypercast.reference.array_types import FloatArray, IntArray, SparseArray

__all__ = ["MiniBatch"]


@dataclass(frozen=True, kw_only=True, eq=False)
class MiniBatch:
    """A sample of a graph.

    Parameters
    ----------
    levels : tuple of (S,) arrays of int64
        Vertices of the graph whose rows are the input, and the output of each layer. Vertices of a
        level come first in the level below.
    matrices : tuple of scipy.sparse.csr_array
        For each layer, first to last: (rows of its output, rows of its input) float64, what is
        aggregated.
    loss_weights : (T,) numpy.ndarray of float64
        Weight of each vertex of the last level, 0 if it is not to train on; the batch's loss is the
        sum of losses times these.
    number : int or None
        Which of a finite pool of samples it is: samples with the same number are the same.
    """

    levels: tuple[IntArray, ...]
    matrices: tuple[SparseArray, ...]
    loss_weights: FloatArray
    number: int | None = None

    @property
    def inputs(self) -> IntArray:
        """Vertices whose features are the input."""
        return self.levels[0]

    @property
    def targets(self) -> IntArray:
        """Vertices of the last level."""
        return self.levels[-1]
