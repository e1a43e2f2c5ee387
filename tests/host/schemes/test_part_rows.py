# SPDX-License-Identifier: BSD-2-Clause
"""Rows of a part, with those of others below them."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.schemes.part_rows import OtherRows, PartRows
from hypercast.reference.tensor import FEATURES, Kind, Tensor

H1 = Tensor(Kind.HIDDEN, 1)


class Others(OtherRows):
    """Gives fixed rows, and counts how often it does."""

    def __init__(self, rows, *, keeps_features):
        self._rows = rows
        self.keeps_features = keeps_features
        self.brought = 0

    def count(self, *, transposed):
        return len(self._rows)

    def bring(self, rows_of, width, *, transposed, name, exponent):
        assert width == self._rows.shape[1]
        self.brought += 1
        return self._rows


def part(others):
    return PartRows(np.arange(4), 3, scipy.sparse.eye_array(4, format="csr"), others)


@given(st.integers(0, 5), st.integers(1, 4), st.sampled_from(["int8", "int16"]), st.booleans(),
       st.booleans())
def test_rows_of_others_are_below(count, columns, kind, sparse, sparse_others):
    random = np.random.default_rng(count)
    own, others = (random.integers(-9, 9, (rows, columns)) for rows in (4, count))
    matrix = own.astype(kind)
    brought = scipy.sparse.csr_array(others) if sparse and sparse_others else others
    found = part(Others(brought, keeps_features=False)).with_neighbours(
        scipy.sparse.csr_array(matrix) if sparse else matrix, transposed=True, name=H1, exponent=0)
    assert found.dtype == matrix.dtype and scipy.sparse.issparse(found) == sparse
    assert np.array_equal(found.toarray() if sparse else found, np.concatenate([own, others]))


@pytest.mark.parametrize(("name", "keeps", "times"), [
    (FEATURES, True, 1), (FEATURES, False, 2), (H1, True, 2)])
def test_features_are_brought_once_where_that_costs_messages(name, keeps, times):
    others = Others(np.ones((2, 3), np.int8), keeps_features=keeps)
    rows, matrix = part(others), np.zeros((4, 3), np.int8)
    first, second = (rows.with_neighbours(matrix, transposed=False, name=name, exponent=-3)
                     for _ in range(2))
    assert others.brought == times and (first is second) == (times == 1)
    assert rows.halo_rows(transposed=False) == 2
    assert rows.shared and rows.kept == {} and rows.count_trained(2) == 3
