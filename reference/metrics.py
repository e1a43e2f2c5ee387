"""The counters a pass over all vertices leaves behind."""

import math
from typing import NamedTuple

import numpy as np

from hypercast.rtl.isa import Split

__all__ = ["Metrics"]


class Metrics(NamedTuple):
    """Loss and hits, indexed by ``Split``.

    Attributes
    ----------
    loss : numpy.ndarray
        (4,) sums of the cross-entropies in bits, times ``2**12``; zero for ``Split.NONE``.
    correct : numpy.ndarray
        (4,) vertices whose class was predicted; zero for ``Split.NONE``.
    vertices : numpy.ndarray
        (4,) vertices in the split.
    """

    loss: np.ndarray
    correct: np.ndarray
    vertices: np.ndarray

    @classmethod
    def of_vertices(cls, splits, loss, hits):
        """Sum up per vertex ``loss`` and ``hits``."""
        rows = np.zeros((3, len(Split)), dtype=np.result_type(loss, np.int64))
        for row, values in zip(rows, (loss, hits, np.ones_like(splits)), strict=True):
            np.add.at(row, splits, values)
        rows[:2, Split.NONE] = 0
        return cls(rows[0], rows[1].astype(np.int64), rows[2].astype(np.int64))

    def mean_loss(self, split):
        """Mean cross-entropy of ``split`` in nats; not a number if it is empty."""
        count = self.vertices[split]
        return float(self.loss[split] / count) / 4096 * math.log(2) if count else math.nan

    def accuracy(self, split):
        """Fraction of ``split`` predicted correctly; not a number if it is empty."""
        count = self.vertices[split]
        return float(self.correct[split] / count) if count else math.nan
