# SPDX-License-Identifier: BSD-2-Clause
"""Mantissas are kept with 16 bits, and read with 64."""

import numpy as np
import pytest
import scipy.sparse

from hypercast.reference.mantissa_file import MANTISSA, MantissaFile
from hypercast.reference.tensor import EDGES, FEATURES


def test_what_is_stored_is_read():
    file, values = MantissaFile(), np.array([[-(1 << 15), 0], [1, (1 << 15) - 1]])
    file.update({FEATURES: values})
    assert file.data[FEATURES].dtype == MANTISSA
    found = file[FEATURES]
    assert found.dtype == np.int64 and np.array_equal(found, values)
    with pytest.raises(ValueError, match="read-only"):
        found[0, 0] = 1
    assert dict(file).keys() == {FEATURES} and file.pop(FEATURES) is not None and not file


def test_what_does_not_fit_is_refused():
    """Never wrapped: the values before stay."""
    file = MantissaFile({FEATURES: np.array([3])})
    for wide in (1 << 15, -(1 << 15) - 1):
        with pytest.raises(AssertionError, match="X has wider mantissas"):
            file[FEATURES] = np.array([0, wide])
    assert file[FEATURES].tolist() == [3]


def test_sparse_arrays_are_kept_as_they_are():
    edges = scipy.sparse.csr_array(np.array([[1 << 20, 0]]))
    assert MantissaFile({EDGES: edges})[EDGES] is edges
