# SPDX-License-Identifier: BSD-2-Clause
"""The transposed matrix of a sample: for small ones SciPy takes longer to begin than to finish."""

import numpy as np
import numpy.typing as npt
import scipy.sparse
from numpy import uint64

from hypercast.reference.array_types import IntArray, SparseArray
from hypercast.reference.kernels import kernel

__all__ = ["transpose_csr"]


def transpose_csr(matrix: SparseArray) -> SparseArray:
    """The transpose of a ``csr_array`` of int64, as another; entries of a row in their order."""
    rows, columns = matrix.shape
    starts = np.zeros(columns + 1, dtype=np.int64)
    indices = np.empty(matrix.nnz, dtype=np.int32)
    data = np.empty(matrix.nnz, dtype=np.int64)
    transpose(np.ascontiguousarray(matrix.indptr, dtype=np.int64),
              np.ascontiguousarray(matrix.indices, dtype=np.int32),
              np.ascontiguousarray(matrix.data, dtype=np.int64), starts, indices, data)
    # SciPy takes both of the same type.
    starts = starts.astype(np.int32 if matrix.nnz < 1 << 31 else np.int64)
    return scipy.sparse.csr_array((data, indices, starts), shape=(columns, rows))


@kernel("void(in1(int64), in1(int32), in1(int64), int64[::1], int32[::1], int64[::1])")
def transpose(starts: IntArray, columns: npt.NDArray[np.int32], data: IntArray,
              new_starts: IntArray, new_columns: npt.NDArray[np.int32],
              new_data: IntArray) -> None:
    """Transpose a CSR matrix: a counting sort.

    Parameters
    ----------
    starts : (R + 1,) array of int64
        Where the entries of each row start.
    columns, data : (E,) array of int32 and int64
        Column and value of each entry.
    new_starts : (C + 1,) array of int64
        Zeros; gets the start of each column's entries.
    new_columns, new_data : (E,) array of int32 and int64
        Get the row and the value of each, column by column.
    """
    for entry in range(starts[0], starts[-1]):
        new_starts[uint64(columns[entry])] += 1
    end = np.int64(0)
    for column in range(len(new_starts)):
        end += new_starts[column]
        new_starts[column] = end
    # From the last entry to the first: ends become starts.
    row = len(starts) - 2
    for entry in range(starts[-1] - 1, starts[0] - 1, -1):
        while entry < starts[uint64(row)]:
            row -= 1
        turned = uint64(columns[uint64(entry)])
        place = new_starts[turned] - 1
        new_starts[turned] = place
        new_columns[uint64(place)] = row
        new_data[uint64(place)] = data[uint64(entry)]
