# SPDX-License-Identifier: BSD-2-Clause
"""Digests of matrices: equal for equal integers, and for nothing else."""

import numpy as np
import scipy.sparse

from hypercast.host.files.array_digest import array_digest

MATRIX = np.arange(6).reshape(2, 3)


def test_integers_count_by_their_values():
    assert array_digest(MATRIX) == array_digest(MATRIX.astype(np.int8)) \
        == array_digest(np.asfortranarray(MATRIX))
    assert array_digest(np.array([1])) != array_digest(np.array([1.0]))


def test_shapes_values_and_order_count():
    row = np.arange(3)
    others = [MATRIX.reshape(3, 2), MATRIX.ravel(), MATRIX + 1, MATRIX[::-1]]
    digests = [array_digest(one) for one in (MATRIX, *others)]
    digests += [array_digest(MATRIX, row), array_digest(row, MATRIX), array_digest()]
    assert len(set(digests)) == len(digests)


def test_sparse_matrices_count_by_what_they_keep():
    one = scipy.sparse.csr_array(np.array([[0, 2], [3, 0]]))
    for part in ("data", "indices", "indptr"):
        other = one.copy()
        setattr(other, part, getattr(other, part)[::-1].copy())
        assert array_digest(other) != array_digest(one)
    assert array_digest(one.copy()) == array_digest(one)
