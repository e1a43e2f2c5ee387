# SPDX-License-Identifier: BSD-2-Clause
"""Edge weights as integers: as many bits as a graph's weights need, whatever an element has.

A weight that is too large for an element is sent as several edges between the same vertices, so
only the rounding of the many small weights limits the exponent, not the few large ones. Where a
graph has many edges, its weights are small next to the largest, the loop of a vertex with no other
edge: eight bits would leave most of them the mantissas 0, 1 and 2.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hypercast.reference.array_types import FloatArray, IntArray
from hypercast.reference.quantization import lowest_exponent
from hypercast.reference.weight_kernels import add_squares, round_weights
from hypercast.rtl.isa import MINIMUM_EXPONENT

__all__ = ["EdgeWeights", "edge_counts", "quantized_edge_weights", "rounding_error"]

#: Mean relative rounding error of a row's weights that is small enough, and how many more edges, as
#: a share, may be sent to come to it.
_ERROR = 1 / 32
_MORE_EDGES = 1 / 8
#: Most bits that a mantissa may have beyond an element's.
_MORE_BITS = 8


class EdgeWeights(NamedTuple):
    """Rounded edge weights.

    Attributes
    ----------
    mantissas : (edges,) array of int64
        Mantissas. Each takes ``edge_counts`` edges.
    exponent : int
        Exponent of the mantissas.
    error : float
        The weights' ``rounding_error``.
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
    """Mean relative error of rows: the Euclidean norm of the errors over the norm of the weights.

    Parameters
    ----------
    weights : (edges,) array of float
        Weights.
    mantissas : (edges,) array of int
        The rounded weights, in units of ``2**exponent``.
    exponent : int
        Exponent of the mantissas.
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


def quantized_edge_weights(weights: FloatArray, rows: npt.NDArray[np.integer[Any]], width: int,
                           least: int = MINIMUM_EXPONENT, loops: int = 0) -> EdgeWeights:
    """Round edge weights to mantissas of one exponent.

    With this exponent, the largest weight fits an element. Where small weights would lose too much,
    it is lower, as far as that does not ask for many more edges.

    Parameters
    ----------
    weights : (edges,) array of float
        Finite values.
    rows : (edges,) array of int
        Row of each.
    width : int
        Bits of an element.
    least : int
        The least exponent with which a weight of 1 fits an element, if weights of 1 are needed too.
    loops : int
        Number of weights of 1.

    Returns
    -------
    EdgeWeights
    """
    largest = max(-float(weights.min(initial=0)), float(weights.max(initial=0)))
    exponent = lowest_exponent(largest, width, least)
    if not largest:
        return EdgeWeights(np.zeros(len(weights), dtype=np.int64), exponent, 0.0)
    rounding = _Rounding(weights, rows, width, largest)
    found, _ = rounding.at(exponent)
    limit = (1 + _MORE_EDGES) * (len(weights) + loops)
    lowest = max(exponent - _MORE_BITS, MINIMUM_EXPONENT)
    while found.error > _ERROR and found.exponent > lowest:
        finer, edges = rounding.at(found.exponent - 1)
        one = 1 << max(-finer.exponent, 0)
        if edges + loops * int(edge_counts(one, width)) > limit:
            break
        found = finer
    return found


class _Rounding:
    """Weights to be rounded to mantissas of any exponent.

    Parameters
    ----------
    weights, rows, width
        As of ``quantized_edge_weights``.
    largest : float
        The largest magnitude of a weight; not zero.
    """

    def __init__(self, weights: FloatArray, rows: npt.NDArray[np.integer[Any]], width: int,
                 largest: float) -> None:
        self._weights = np.ascontiguousarray(weights, dtype=np.float64)
        self._rows = np.ascontiguousarray(rows, dtype=np.int32)
        self._largest = largest
        self._top = (1 << width - 1) - 1
        self._norms = np.zeros(int(rows.max()) + 1)
        add_squares(self._weights, self._rows, largest, self._norms)

    def at(self, exponent: int) -> tuple[EdgeWeights, int]:
        """The weights with an exponent, and how many edges they take."""
        mantissas = np.empty(len(self._weights), dtype=np.int64)
        errors = np.zeros_like(self._norms)
        edges = round_weights(self._weights, self._rows, self._largest, 2.0**exponent, self._top,
                              mantissas, errors)
        counted = self._norms > 0
        error = float(np.sqrt(errors[counted] / self._norms[counted]).mean())
        return EdgeWeights(mantissas, exponent, error), edges
