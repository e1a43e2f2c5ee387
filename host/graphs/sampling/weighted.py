# SPDX-License-Identifier: BSD-2-Clause
"""Numbers drawn in proportion to weights."""

import numpy as np

from hypercast.errors import InputError
from hypercast.reference.array_types import FloatArray, IntArray

__all__ = ["WeightedDraw"]


class WeightedDraw:
    """Draws numbers with replacement.

    Parameters
    ----------
    weights : (N,) array of float
        What the probability of each number is proportional to; not negative, and not all zero.
    """

    def __init__(self, weights: FloatArray) -> None:
        self._ends = np.cumsum(weights)
        if len(self._ends) == 0 or not self._ends[-1] > 0:
            raise InputError("there is nothing to draw from: all weights are zero")

    def __call__(self, count: int, generator: np.random.Generator) -> IntArray:
        """``count`` numbers in increasing order, (count,) int64."""
        places = np.sort(generator.random(count)) * self._ends[-1]
        numbers: IntArray = np.searchsorted(self._ends, places, side="right")
        return numbers
