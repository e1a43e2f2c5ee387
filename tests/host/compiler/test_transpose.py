# SPDX-License-Identifier: BSD-2-Clause
"""The transposed matrix is SciPy's."""

import numpy as np
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.compiler.transpose import transpose_csr


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 200), st.integers(0, 999))
def test_it_is_scipys(rows, columns, entries, seed):
    generator = np.random.default_rng(seed)
    # Not sorted, some twice: samples have entries in any order.
    starts = np.append(0, np.sort(generator.integers(0, entries + 1, rows)))
    starts[-1] = entries
    matrix = scipy.sparse.csr_array(
        (generator.integers(-9, 9, entries), generator.integers(0, columns, entries), starts),
        shape=(rows, columns))
    found, expected = transpose_csr(matrix), matrix.T.tocsr()
    assert found.shape == expected.shape and found.dtype == np.int64
    for name in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(found, name), getattr(expected, name))
