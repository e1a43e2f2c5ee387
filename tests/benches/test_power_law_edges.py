# SPDX-License-Identifier: BSD-2-Clause
"""Generated matrices: exact sizes, symmetry, the degrees of the cycle model, weights of a GCN."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.benches.power_law_edges import power_law_edges
from hypercast.host.cycle_model.aggregations import degree_counts


def rows_of(matrix):
    """Row of every entry."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


@given(st.integers(1, 300), st.integers(0, 2_000), st.integers(0, 9))
@settings(max_examples=50, deadline=None)
def test_sizes_and_degrees_are_exact_and_the_matrix_is_symmetric(vertices, more, seed):
    matrix = power_law_edges(vertices, vertices + more, seed)
    assert matrix.shape == (vertices, vertices) and matrix.nnz == vertices + more
    assert len(matrix.indices) == matrix.nnz
    entries = np.stack([rows_of(matrix), matrix.indices])
    one, other = (np.sort(ends[0] * vertices + ends[1]) for ends in (entries, entries[::-1]))
    assert (one == other).all()
    assert np.isin(np.arange(vertices) * (vertices + 1), one).all()  # loops
    # Loops that were drawn take two ends of a vertex, and so two entries of its row.
    degrees, counts = np.unique(np.diff(matrix.indptr), return_counts=True)
    expected, expected_counts = degree_counts(vertices, vertices + more, "power")
    assert degrees.tolist() == expected.tolist() and counts.tolist() == expected_counts.tolist()


@pytest.mark.parametrize("entries", [4_000, 4_001])
def test_weights_are_normalised(entries):
    matrix = power_law_edges(500, entries)
    degrees = np.diff(matrix.indptr)
    assert matrix.data.dtype == np.float32 and matrix.indices.dtype == np.int32
    np.testing.assert_allclose(
        matrix.data, 1 / np.sqrt(degrees[rows_of(matrix)] * degrees[matrix.indices]), rtol=1e-6)


def test_seeds_draw_others():
    one, same, other = (power_law_edges(200, 1_000, seed) for seed in (0, 0, 1))
    assert (one.indices == same.indices).all() and (one.indices != other.indices).any()
    assert (np.diff(one.indices)[np.diff(rows_of(one)) == 0] >= 0).all()  # in order
