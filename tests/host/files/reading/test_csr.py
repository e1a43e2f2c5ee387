# SPDX-License-Identifier: BSD-2-Clause
"""What is refused is in ``tests/host/graphs/datasets/test_saint.py``, through a file."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.files.reading.csr import checked_csr, read_csr
from hypercast.host.files.reading.regular_file import FileError


@given(st.integers(0, 8), st.integers(0, 8), st.sampled_from(["?", "<f4", "<i8"]),
       st.integers(0, 1 << 32))
def test_files_of_scipy(tmp_path_factory, rows, columns, kind, seed):
    path = tmp_path_factory.mktemp("csr") / "a.npz"
    matrix = scipy.sparse.random_array(
        (rows, columns), density=0.3, rng=np.random.default_rng(seed)).astype(kind).tocsr()
    scipy.sparse.save_npz(path, matrix)
    found = read_csr(path)
    assert found.shape == (rows, columns) and found.dtype == matrix.dtype
    np.testing.assert_array_equal(found.todense(), matrix.todense())


@given(st.data())
def test_whatever_the_parts_are(data):
    """What passes is a matrix that SciPy finds nothing wrong with either."""
    small = st.integers(-2, 6)
    indices, starts, shape = (np.array(data.draw(st.lists(small, max_size=size)), dtype=np.int64)
                              for size in (4, 5, 2))
    try:
        matrix = checked_csr(np.ones(len(indices)), indices, starts, shape, "somewhere")
    except FileError:
        return
    matrix.check_format(full_check=True)
    assert matrix.nnz == len(indices) and matrix.shape == tuple(shape)


@pytest.mark.parametrize("kind", [np.uint64, np.uint8, np.int16])
def test_integers_of_any_width(kind):
    parts = (np.array(values, dtype=kind) for values in ([0, 2], [0, 1, 2], [2, 3]))
    assert checked_csr(np.ones(2), *parts, "a").todense().tolist() == [[1, 0, 0], [0, 0, 1]]
    with pytest.raises(FileError, match="a: indices reach 18446744073709551615"):
        checked_csr([1.0], np.array([(1 << 64) - 1], np.uint64), [0, 1], [1, 1], "a")
