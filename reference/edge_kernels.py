# SPDX-License-Identifier: BSD-2-Clause
"""The hot loop of sums over neighbours, compiled."""

import numpy as np
import numpy.typing as npt

from hypercast.reference.array_types import IntArray
from hypercast.reference.kernels import kernel

__all__ = ["add_neighbours"]


@kernel("void(in1(int64), in1(int32), in1(int64), in2(int16), int64[:, ::1])")
def add_neighbours(starts: IntArray, sources: npt.NDArray[np.int32], weights: IntArray,
                   rows: npt.NDArray[np.int16], sums: IntArray) -> None:
    """Add up rows of a matrix, times weights.

    It adds in float64, which is exact as long as the magnitudes of a sum's terms add up to less
    than ``2**53``.

    Parameters
    ----------
    starts : (targets + 1,) array of int64
        First edge of each target, and the number of edges.
    sources : (edges,) array of int32
        Row that each edge reads.
    weights : (edges,) array of int64
        Weight of each edge.
    rows : (sources, columns) array of int16
        The matrix.
    sums : (targets, columns) array of int64
        Gets the sums.
    """
    found = np.empty(rows.shape[1], dtype=np.float64)
    for target in range(len(starts) - 1):
        found[:] = 0
        for edge in range(starts[target], starts[target + 1]):
            weight, row = np.float64(weights[edge]), rows[sources[edge]]
            for column in range(len(found)):
                found[column] += weight * row[column]
        for column in range(len(found)):
            sums[target, column] = np.int64(found[column])
