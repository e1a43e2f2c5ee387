# SPDX-License-Identifier: BSD-2-Clause
"""Sums over neighbours, against SciPy's products of integers."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from hypercast.reference.edge_kernels import add_neighbours


@given(st.integers(0, 9), st.integers(1, 9), st.integers(0, 9), st.integers(0, 40),
       st.integers(0, 99))
def test_sums_are_those_of_integers(targets, sources, columns, edges, seed):
    """Edges may come twice, and their weights may have more bits than an element."""
    rng = np.random.default_rng(seed)
    ends = (rng.integers(max(targets, 1), size=edges * bool(targets)),
            rng.integers(sources, size=edges * bool(targets)))
    weights = rng.integers(-1 << 20, 1 << 20, size=len(ends[0]))
    matrix = scipy.sparse.csr_array((weights, ends), shape=(targets, sources))
    rows = rng.integers(-1 << 15, 1 << 15, size=(sources, columns), dtype=np.int16)
    sums = np.full((targets, columns), 7)
    add_neighbours(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data,
                   rows, sums)
    assert np.array_equal(sums, matrix.toarray() @ rows.astype(np.int64))


@pytest.mark.parametrize("last", [1, -1])
def test_the_largest_sum_of_an_accumulator_is_exact(last):
    """All of its 47 bits, and one more unit."""
    edges = 1 << 17
    weights = np.full(edges + 1, -1 << 15)
    weights[-1] = last
    rows = np.array([[-1 << 15], [1]], dtype=np.int16)
    sums = np.zeros((1, 1), dtype=np.int64)
    sources = np.zeros(edges + 1, dtype=np.int32)
    sources[-1] = 1
    add_neighbours(np.array([0, edges + 1]), sources, weights, rows, sums)
    assert sums.tolist() == [[(1 << 47) + last]]
