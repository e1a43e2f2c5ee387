# SPDX-License-Identifier: BSD-2-Clause
"""A digest of matrices, dense or sparse, by which trainings of the same integers are known."""

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

__all__ = ["array_digest"]


def array_digest(*matrices: npt.NDArray[Any] | scipy.sparse.csr_array) -> str:
    """SHA-256 of the shapes and values of matrices, as hexadecimal digits.

    Integers count by their values, whatever their width.
    """
    digest = hashlib.sha256()
    for matrix in matrices:
        parts: tuple[npt.NDArray[Any], ...] = (matrix,)
        if isinstance(matrix, scipy.sparse.csr_array):
            parts = matrix.indptr, matrix.indices, matrix.data
        for part in parts:
            kind = np.int64 if part.dtype.kind in "iu" else part.dtype
            digest.update(repr(part.shape).encode())
            digest.update(np.ascontiguousarray(part, dtype=kind).tobytes())
    return digest.hexdigest()
