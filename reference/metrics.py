# SPDX-License-Identifier: BSD-2-Clause
"""The counters a pass over all vertices leaves behind."""

import math
from typing import NamedTuple, Self

import numpy as np

from hypercast.reference.array_types import BoolArray, FloatArray, IntArray
from hypercast.rtl.isa import Split

__all__ = ["LOSS_UNIT", "Metrics"]

#: Nats of a unit of the chip's losses, of one class per vertex and without loss weights.
LOSS_UNIT = math.log(2) / 4096


class Metrics(NamedTuple):
    """Loss and hits, indexed by ``Split``.

    Attributes
    ----------
    loss : numpy.ndarray
        (4,) sums of the cross-entropies, see ``unit``; zero for ``Split.NONE``.
    correct : numpy.ndarray
        (4,) vertices whose class was predicted, or, of several labels per vertex, labels that were
        predicted and meant (true positives); zero for ``Split.NONE``.
    wrong : numpy.ndarray
        (4,) labels that were either predicted or meant (false positives and false negatives); zero
        for ``Split.NONE``, and where a vertex has one class.
    vertices : numpy.ndarray
        (4,) vertices in the split.
    unit : float
        Nats of a unit of ``loss``. Where a vertex has several labels, its loss is their mean.
    """

    loss: IntArray | FloatArray
    correct: IntArray
    wrong: IntArray
    vertices: IntArray
    unit: float = LOSS_UNIT

    @classmethod
    def of_vertices(cls, splits: IntArray, loss: IntArray | FloatArray,
                    predicted: IntArray | BoolArray, labels: IntArray | BoolArray,
                    unit: float = LOSS_UNIT) -> Self:
        """Sum up per vertex.

        Parameters
        ----------
        splits, loss : (V,) arrays
            ``Split``, and loss in ``unit``.
        predicted, labels : (V,) arrays of int, or (V, C) arrays of bool
            Classes.
        """
        if labels.ndim == 2:
            correct, wrong = (np.count_nonzero(labels & predicted, axis=1),
                              np.count_nonzero(labels != predicted, axis=1))
        else:
            correct, wrong = predicted == labels, np.zeros_like(splits)
        rows = np.zeros((4, len(Split)), dtype=np.result_type(loss, np.int64))
        for row, values in zip(rows, (loss, correct, wrong, np.ones_like(splits)), strict=True):
            np.add.at(row, splits, values)
        rows[:3, Split.NONE] = 0
        _, hits, misses, vertices = rows.astype(np.int64)
        return cls(loss=rows[0], correct=hits, wrong=misses, vertices=vertices, unit=unit)

    def __add__(self, other: object) -> "Metrics":
        """``Metrics`` of both together; they have the same unit."""
        assert isinstance(other, Metrics) and other.unit == self.unit
        return Metrics(self.loss + other.loss, self.correct + other.correct,
                       self.wrong + other.wrong, self.vertices + other.vertices, self.unit)

    def mean_loss(self, split: Split) -> float:
        """Mean cross-entropy of ``split`` in nats; not a number if it is empty."""
        count = self.vertices[split]
        return float(self.loss[split] / count) * self.unit if count else math.nan

    def accuracy(self, split: Split) -> float:
        """Fraction of ``split`` predicted correctly; not a number if it is empty."""
        count = self.vertices[split]
        return float(self.correct[split] / count) if count else math.nan

    def micro_f1(self, split: Split) -> float:
        """Micro F1 of ``split``, whose vertices have several labels each.

        Not a number if it is empty, or no label is predicted or meant.
        """
        hits = 2 * int(self.correct[split])
        marks = hits + int(self.wrong[split])
        return hits / marks if marks else math.nan
