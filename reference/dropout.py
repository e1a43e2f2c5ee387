# SPDX-License-Identifier: BSD-2-Clause
"""Dropout as the chip does it: a hash picks the kept elements, and a drain scales the product."""

import math
from dataclasses import dataclass
from typing import Self, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.errors import InputError
from hypercast.reference.arithmetic import keep_mask
from hypercast.reference.array_types import BoolArray, IntArray, SparseArray
from hypercast.reference.row_blocks import row_blocks
from hypercast.rtl.isa import FACTOR_ONE, KEY_MASK, THRESHOLD_WIDTH

__all__ = ["Dropout"]

#: Layer ``l`` hashes with key ``l * LAYER_KEY_INCREMENT`` (a constant of MurmurHash3), so that no
#: two layers share a key within any realistic number of steps.
LAYER_KEY_INCREMENT = 0x85EBCA6B

Element = TypeVar("Element", bound=np.generic)


@dataclass(frozen=True, kw_only=True)
class Dropout:
    """Dropout of one layer's input in the chip's terms.

    Kept elements would be multiplied by ``1 / (1 - p)``; the chip does so where the product that
    uses it is drained, as ``2**exponent * multiplier / FACTOR_ONE``.

    Parameters
    ----------
    key : int
        32 bits, the layer's; the step key is added to it.
    threshold : int
        An element is dropped with probability ``threshold / 2**THRESHOLD_WIDTH``.
    exponent : int
        Added to the exponent of the product (DRAIN's ``exponent_bias``).
    multiplier : int
        Above half of ``FACTOR_ONE`` and below it, or 0 for exactly ``2**exponent`` (DRAIN's
        ``scale``).
    """

    key: int = 0
    threshold: int = 0
    exponent: int = 0
    multiplier: int = 0

    @classmethod
    def from_rate(cls, rate: float, layer: int) -> Self:
        """Constants for probability ``rate`` (below one) on the input of ``layer`` (from 1)."""
        certain = 1 << THRESHOLD_WIDTH
        threshold = round(rate * certain)
        if not 0 <= threshold < certain:
            raise InputError(f"dropout must be at least 0 and, rounded to 1/{certain}, below 1, "
                             f"not {rate}")
        scale = certain / (certain - threshold)
        exponent = math.ceil(math.log2(scale))
        multiplier, half = round(FACTOR_ONE * scale / 2**exponent), FACTOR_ONE // 2
        if multiplier == half:  # 2**(exponent - 1), a little more before it was rounded
            exponent -= 1
        return cls(key=layer * LAYER_KEY_INCREMENT & KEY_MASK, threshold=threshold,
                   exponent=exponent,
                   multiplier=multiplier if half < multiplier < FACTOR_ONE else 0)

    @property
    def scale(self) -> float:
        """The factor that the chip multiplies by, as a float."""
        return 2.0**self.exponent * (self.multiplier / FACTOR_ONE or 1.0)

    def keep(self, step_key: int, ranks: npt.ArrayLike, features: npt.ArrayLike) -> BoolArray:
        """``keep_mask`` of this layer at a step."""
        key = (self.key + step_key) & KEY_MASK
        return keep_mask(key, self.threshold, ranks, features)

    def apply(self, matrix: npt.NDArray[Element] | SparseArray, step_key: int,
              ranks: IntArray | None = None) -> npt.NDArray[Element] | SparseArray:
        """``matrix`` (dense or CSR) with the dropped elements zero.

        Row numbers are the ranks, if these are not given. Nothing is scaled.
        """
        if self.threshold == 0:
            return matrix
        if isinstance(matrix, scipy.sparse.csr_array):
            of_rows = np.arange(matrix.shape[0]) if ranks is None else ranks
            keep = self.keep(
                step_key, np.repeat(of_rows, np.diff(matrix.indptr)), matrix.indices)
            return scipy.sparse.csr_array(
                (matrix.data * keep, matrix.indices, matrix.indptr), shape=matrix.shape)
        rows, columns = matrix.shape
        of_rows = np.arange(rows) if ranks is None else ranks
        kept = np.empty_like(matrix)
        for some in row_blocks(matrix.shape):
            kept[some] = matrix[some] * self.keep(
                step_key, of_rows[some, None], np.arange(columns)[None, :])
        return kept
