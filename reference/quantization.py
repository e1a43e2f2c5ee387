# SPDX-License-Identifier: BSD-2-Clause
"""Real matrices as integer mantissas with one exponent."""

import math
from typing import overload

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.errors import InputError
from hypercast.reference.array_types import IntArray, IntMatrix, SparseArray
from hypercast.rtl.isa import FACTOR_ONE, FACTOR_WIDTH, LONGEST_SHIFT, MINIMUM_EXPONENT

__all__ = [
    "ConstantError", "lowest_exponent", "mantissa_and_shift", "quantize", "without_common_factor",
]


class ConstantError(InputError):
    """An optimiser constant is out of range."""


def mantissa_and_shift(value: float, source: str) -> tuple[int, int]:
    """An optimiser constant as ``mantissa / 2**shift``, as fields of an instruction hold it.

    Parameters
    ----------
    value : float
        The constant.
    source : str
        The quantity that it was made from, for messages.

    Raises
    ------
    ConstantError
        If it is negative, above the largest mantissa, or not a number.
    """
    if not 0 <= value < FACTOR_ONE - 0.5:
        raise ConstantError(f"{source} gives optimiser constant {value:.6g}, which is not in 0 to "
                            f"{FACTOR_ONE - 1}: lower it, or, where gradients are large against "
                            f"weights, scale the features down or normalise them")
    shift = min(FACTOR_WIDTH - math.frexp(value)[1], LONGEST_SHIFT) if value else 0
    if round(math.ldexp(value, shift)) == FACTOR_ONE:
        shift -= 1
    return round(math.ldexp(value, shift)), shift


def lowest_exponent(largest: float, width: int, least: int = MINIMUM_EXPONENT) -> int:
    """The lowest exponent, from ``least`` on, with which ``width`` bits hold a magnitude."""
    exponent = max(math.frexp(largest)[1] - (width - 1), least)
    return exponent + (round(math.ldexp(largest, -exponent)) == 1 << width - 1)


@overload
def quantize(matrix: npt.NDArray[np.floating], width: int,
             least: int = MINIMUM_EXPONENT) -> tuple[IntArray, int]: ...
@overload
def quantize(matrix: SparseArray, width: int,
             least: int = MINIMUM_EXPONENT) -> tuple[SparseArray, int]: ...
def quantize(matrix: npt.ArrayLike | SparseArray, width: int,
             least: int = MINIMUM_EXPONENT) -> tuple[IntMatrix, int]:
    """Round a real matrix half to even to mantissas.

    Parameters
    ----------
    matrix : array or scipy.sparse array
        Finite values.
    width : int
        Bits of a mantissa.
    least : int
        Least exponent.

    Returns
    -------
    tuple
        The mantissas (int64, a CSR array if ``matrix`` is sparse) and the exponent: the lowest
        with which the largest value fits.
    """
    if scipy.sparse.issparse(matrix):
        matrix = scipy.sparse.csr_array(matrix)
        matrix.sort_indices()
        mantissas, exponent = quantize(matrix.data, width, least)
        return scipy.sparse.csr_array(
            (mantissas, matrix.indices, matrix.indptr), shape=matrix.shape), exponent
    matrix = np.asarray(matrix, dtype=np.float64)
    exponent = lowest_exponent(float(np.abs(matrix).max(initial=0)), width, least)
    return np.rint(np.ldexp(matrix, -exponent)).astype(np.int64), exponent


def without_common_factor(mantissas: IntMatrix, exponent: int) -> tuple[IntMatrix, int]:
    """Equal values by mantissas that have no common factor of two, and their exponent.

    Parameters
    ----------
    mantissas : int64 array or CSR array
        As ``quantize`` gives them.
    exponent : int
        Exponent of the mantissas.
    """
    if isinstance(mantissas, scipy.sparse.csr_array):
        values, exponent = without_common_factor(mantissas.data, exponent)
        return scipy.sparse.csr_array(
            (values, mantissas.indices, mantissas.indptr), shape=mantissas.shape), exponent
    common = int(np.bitwise_or.reduce(mantissas.ravel(), initial=0))
    zeros = max((common & -common).bit_length() - 1, 0)
    return mantissas >> zeros, exponent + zeros
