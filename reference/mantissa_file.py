# SPDX-License-Identifier: BSD-2-Clause
"""Mantissas of a step's tensors, in as little memory as they need."""

from collections import UserDict

import numpy as np
import scipy.sparse

from hypercast.reference.arithmetic import bit_length
from hypercast.reference.array_types import IntMatrix
from hypercast.reference.tensor import Tensor

__all__ = ["MANTISSA", "MantissaFile"]

#: The type that mantissas are kept in: it holds the widest elements.
MANTISSA = np.dtype(np.int16)


class MantissaFile(UserDict[Tensor, IntMatrix]):
    """Mantissas by tensor: they take 16 bits each, and are read as int64.

    An array that is read is a copy, which cannot be written to. Sparse arrays stay unchanged.

    Attributes
    ----------
    data : dict
        The arrays, with 16 bits.
    """

    def __getitem__(self, name: Tensor) -> IntMatrix:
        kept = self.data[name]
        if scipy.sparse.issparse(kept):
            return kept
        values = kept.astype(np.int64)
        values.setflags(write=False)
        return values

    def __setitem__(self, name: Tensor, values: IntMatrix) -> None:
        if not scipy.sparse.issparse(values):
            assert bit_length(values) < 8 * MANTISSA.itemsize, f"{name} has wider mantissas"
            values = values.astype(MANTISSA, copy=False)
        self.data[name] = values
