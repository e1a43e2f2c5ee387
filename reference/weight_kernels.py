# SPDX-License-Identifier: BSD-2-Clause
"""The hot loops of ``edge_weights``, compiled."""

import numpy as np
import numpy.typing as npt

from hypercast.reference.array_types import FloatArray, IntArray
from hypercast.reference.kernels import kernel

__all__ = ["add_squares", "round_weights"]


@kernel("void(in1(float64), in1(int32), float64, float64[::1])")
def add_squares(weights: FloatArray, rows: npt.NDArray[np.int32], largest: float,
                norms: FloatArray) -> None:
    """Add up the squares of rows of weights.

    Parameters
    ----------
    weights : (edges,) array of float64
        Weights.
    rows : (edges,) array of int32
        Row of each.
    largest : float
        The divisor of the weights, before they are squared.
    norms : (rows,) array of float64
        Gets the squares added.
    """
    for edge in range(len(weights)):
        weight = weights[edge] / largest
        norms[rows[edge]] += weight * weight


@kernel("int64(in1(float64), in1(int32), float64, float64, int64, int64[::1], float64[::1])")
def round_weights(weights: FloatArray, rows: npt.NDArray[np.int32], largest: float, unit: float,
                  top: int, mantissas: IntArray, errors: FloatArray) -> int:
    """Round weights half to even, and add up the squares of rows of errors.

    Parameters
    ----------
    weights, rows, largest
        As of ``add_squares``; errors are divided by ``largest``, too.
    unit : float
        The weight that a mantissa of 1 stands for: a power of two.
    top : int
        Largest mantissa of an edge.
    mantissas : (edges,) array of int64
        Gets the mantissas.
    errors : (rows,) array of float64
        Gets the squares added.

    Returns
    -------
    int
        How many edges the mantissas take.
    """
    inverse, edges = 1 / unit, 0
    for edge in range(len(weights)):
        mantissa = np.rint(weights[edge] * inverse)
        mantissas[edge] = int(mantissa)
        error = mantissa / largest * unit - weights[edge] / largest
        errors[rows[edge]] += error * error
        size = abs(int(mantissa))
        edges += 1 if size <= top else (size + top - 1) // top
    return edges
