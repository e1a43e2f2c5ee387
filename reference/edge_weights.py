"""Edge weights as integers: as many bits as a graph's weights need, whatever an element has.

A weight that is too large for an element is sent as several edges between the same vertices, so
only the rounding of the many small weights limits the exponent, not the few large ones. Where a
graph has many edges, its weights are small next to the largest, the loop of a vertex with no other
edge: eight bits would leave most of them the mantissas 0, 1 and 2.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hypercast.reference.array_types import FloatArray, IntArray
from hypercast.reference.quantization import quantize
from hypercast.rtl.isa import MINIMUM_EXPONENT

__all__ = ["EdgeWeights", "edge_counts", "quantized_edge_weights", "rounding_error"]

#: Mean relative rounding error of a row's weights that is small enough, and how many more edges, as
#: a share, may be sent to come to it.
_ERROR = 1 / 32
_MORE_EDGES = 1 / 8
#: Most bits of a mantissa, besides those of an element.
_MORE_BITS = 8


class EdgeWeights(NamedTuple):
    """Rounded edge weights.

    Attributes
    ----------
    mantissas : (edges,) array of int64
        Mantissas, each of which takes ``edge_counts`` edges.
    exponent : int
        Exponent of the mantissas.
    error : float
        Their ``rounding_error``.
    """

    mantissas: IntArray
    exponent: int
    error: float


def edge_counts(mantissas: npt.ArrayLike, width: int) -> IntArray:
    """How many edges of ``width`` bits each of an array of mantissas takes: at least one."""
    top = (1 << width - 1) - 1
    counts: IntArray = np.maximum(-(-np.abs(mantissas) // top), 1)
    return counts


def rounding_error(weights: FloatArray, mantissas: IntArray, exponent: int,
                   rows: IntArray) -> float:
    """Mean of the relative errors of rows: the error's Euclidean norm by that of the weights.

    Parameters
    ----------
    weights : (edges,) array of float
        Weights.
    mantissas : (edges,) array of int
        What they are rounded to, times ``2**exponent``.
    exponent : int
        See above.
    rows : (edges,) array of int
        Row of each weight. Rows without a weight that is not zero do not count.
    """
    largest = float(np.abs(weights).max(initial=0))
    if not largest:
        return 0.0
    weights = weights / largest  # so that no square underflows
    errors = np.ldexp(mantissas / largest, exponent) - weights
    norms = np.bincount(rows, weights * weights)
    counted = norms > 0
    return float(np.sqrt(np.bincount(rows, errors * errors)[counted] / norms[counted]).mean())


def quantized_edge_weights(weights: FloatArray, rows: IntArray, width: int,
                           least: int = MINIMUM_EXPONENT, loops: int = 0) -> EdgeWeights:
    """Round edge weights to mantissas of one exponent.

    It is that with which the largest weight fits an element; or, where small weights lose too much
    with it, a lower one, as far as that does not ask for many more edges.

    Parameters
    ----------
    weights : (edges,) array of float
        Finite values.
    rows : (edges,) array of int
        Row of each.
    width : int
        Bits of an element.
    least : int
        The least exponent with which a weight of 1 fits an element, if ones are needed besides.
    loops : int
        How many such ones there are.

    Returns
    -------
    EdgeWeights
    """
    mantissas, exponent = quantize(weights, width, least)
    limit = (1 + _MORE_EDGES) * (len(weights) + loops)
    lowest = max(exponent - _MORE_BITS, MINIMUM_EXPONENT)
    while ((error := rounding_error(weights, mantissas, exponent, rows)) > _ERROR
           and exponent > lowest):
        finer = np.rint(np.ldexp(weights, 1 - exponent)).astype(np.int64)
        one = 1 << max(1 - exponent, 0)
        if edge_counts(finer, width).sum() + loops * edge_counts(one, width) > limit:
            break
        mantissas, exponent = finer, exponent - 1
    return EdgeWeights(mantissas, exponent, error)
