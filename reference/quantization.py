"""Real matrices as integer mantissas with one exponent."""

import math

import numpy as np
import scipy.sparse

from hypercast.rtl.isa import MINIMUM_EXPONENT

__all__ = ["lowest_exponent", "mantissa_and_shift", "quantize", "without_common_factor"]


def mantissa_and_shift(value, source):
    """An optimiser constant as ``mantissa / 2**shift``, 16 and 6 bits.

    Parameters
    ----------
    value : float
        The constant.
    source : str
        What it was made from, for messages.

    Raises
    ------
    ValueError
        If it is negative, above 65535, or not a number.
    """
    if not 0 <= value < 65535.5:
        raise ValueError(f"{source} gives optimiser constant {value:.6g}, which is not in 0 to "
                         f"65535: lower it, or, where gradients are large against weights, scale "
                         f"the features down or normalise them")
    shift = min(16 - math.frexp(value)[1], 63) if value else 0
    if round(math.ldexp(value, shift)) == 65536:
        shift -= 1
    return round(math.ldexp(value, shift)), shift


def lowest_exponent(largest, width, least=MINIMUM_EXPONENT):
    """The lowest exponent, from ``least`` on, with which ``width`` bits hold a magnitude."""
    exponent = max(math.frexp(largest)[1] - (width - 1), least)
    return exponent + (round(math.ldexp(largest, -exponent)) == 1 << width - 1)


def quantize(matrix, width, least=MINIMUM_EXPONENT):
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


def without_common_factor(mantissas, exponent):
    """The same values by mantissas that have no common factor of two, and their exponent.

    Parameters
    ----------
    mantissas : int64 array or CSR array
        As ``quantize`` gives them.
    exponent : int
        Theirs.
    """
    sparse = scipy.sparse.issparse(mantissas)
    values = mantissas.data if sparse else mantissas
    common = int(np.bitwise_or.reduce(values.ravel(), initial=0))
    zeros = max((common & -common).bit_length() - 1, 0)
    values = values >> zeros
    return (scipy.sparse.csr_array((values, mantissas.indices, mantissas.indptr),
                                   shape=mantissas.shape) if sparse else values,
            exponent + zeros)
