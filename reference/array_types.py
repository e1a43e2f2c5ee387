# SPDX-License-Identifier: BSD-2-Clause
"""Names for the arrays that functions take and return; their shapes are in docstrings."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse

__all__ = ["BoolArray", "FloatArray", "FloatMatrix", "IntArray", "IntMatrix", "SparseArray"]

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
#: SciPy has no types of its own: docstrings give the types of its arrays' elements.
SparseArray: TypeAlias = scipy.sparse.csr_array
IntMatrix: TypeAlias = IntArray | SparseArray
FloatMatrix: TypeAlias = FloatArray | SparseArray
