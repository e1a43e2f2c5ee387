# SPDX-License-Identifier: BSD-2-Clause
"""Files as Planetoid has them are in ``tests/host/graphs/test_datasets.py``."""

import collections
import os
import pickle

import numpy as np
import pytest
import scipy.sparse

from hypercast.host.files.reading.pickles import (
    read_pickled_array,
    read_pickled_arrays,
    read_pickled_csr,
    read_pickled_lists,
)
from hypercast.host.files.reading.regular_file import FileError


@pytest.mark.parametrize("protocol", range(2, 5))
@pytest.mark.parametrize("values", [
    np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6, dtype=">i4").reshape(2, 3)),
    np.zeros((0, 3), dtype=bool), np.array([True, False])])
def test_arrays(protocol, values):
    content = pickle.dumps(values, protocol=protocol)
    found = read_pickled_array(content, "a")
    assert found.dtype.isnative
    np.testing.assert_array_equal(found, values)


def test_matrices_and_lists():
    matrix = scipy.sparse.csr_matrix(np.diag([1.0, 2, 0]))
    found = read_pickled_csr(pickle.dumps(matrix, protocol=2), "a")
    assert found.todense().tolist() == matrix.todense().tolist()
    lists = collections.defaultdict(list, {0: [1, 2], 2: []})
    assert read_pickled_lists(pickle.dumps(lists), "a") == lists


def test_dictionaries_of_arrays():
    arrays = {"a": np.arange(3), 5: np.zeros((2, 0))}
    found = read_pickled_arrays(pickle.dumps(arrays), "a")
    assert list(found) == list(arrays)
    for name, values in arrays.items():
        np.testing.assert_array_equal(found[name], values)


class Begun:
    """An array that is made, and given no values."""

    def __reduce__(self):
        return np._core.multiarray._reconstruct, (np.ndarray, (0,), b"b")


@pytest.mark.parametrize("held", [[1], 3, "text", None, scipy.sparse.csr_matrix(np.eye(2)),
                                  Begun()])
def test_what_is_no_array_in_a_dictionary(held):
    content = pickle.dumps({"good": np.arange(3), "bad": held}, protocol=2)
    with pytest.raises(FileError, match=r"^a: 'bad' is no array; make it again"):
        read_pickled_arrays(content, "a")


def test_what_is_no_dictionary():
    for read in (read_pickled_arrays, read_pickled_lists):
        with pytest.raises(FileError, match=r"^a does not hold a dictionary of"):
            read(pickle.dumps([1]), "a")


def test_an_array_without_values():
    with pytest.raises(FileError, match=r"^a holds an array without values"):
        read_pickled_array(pickle.dumps(Begun()), "a")


def test_a_refusal_is_one_line():
    with pytest.raises(FileError, match=r"a is truncated .*\(A load persistent id [^\n]*$"):
        read_pickled_array(b"Pa\n.", "a")


class Call:
    """What a pickle calls when it is loaded."""

    def __init__(self, *call):
        self._call = call

    def __reduce__(self):
        return self._call[0], self._call[1:]


class Built:
    """An object that is made by a call, and given a state that NumPy would take."""

    def __init__(self, call, state):
        self._call, self._state = call, state

    def __reduce__(self):
        return *self._call, self._state


@pytest.mark.parametrize("content", [
    Call(os.mkdir, "x"),
    Call(eval, "1"),
    Call(np.ndarray, (1,), "O", b"12345678"),  # which crashes NumPy
    Call(np.ndarray, (1 << 40,), "i8"),
    Call(np.dtype, "O"),
    Built((np.dtype, ("V8", False, True)), (3, "|", None, ("a",), {"a": (np.dtype("O"), 0)},
                                            8, 1, 0)),
    Built((np._core.multiarray._reconstruct, (np.ndarray, (0,), b"b")),
          (1, (1,), np.dtype("O"), False, [None])),
    Built((np._core.multiarray._reconstruct, (np.ndarray, (0,), b"b")),
          (1, (9,), np.dtype("f8"), False, b"8" * 8)),
    Built((np._core.multiarray._reconstruct, (np.ndarray, (0,), b"b")),
          (1, (2,), np.dtype("?"), False, b"\x01\x02")),
    Call(np._core.multiarray._reconstruct, np.ndarray, (0,), b"b"),
    np.array(["a"]), np.array([{}]), np.array([1j]), [1], {}, 3,
])
def test_what_is_no_array(content):
    with pytest.raises(FileError, match=r"^a (is truncated or damaged|does not hold|holds)"):
        read_pickled_array(pickle.dumps(content, protocol=4), "a")


@pytest.mark.parametrize("change", [
    {"data": None}, {"indices": [0]}, {"_shape": (2.0, 2)}, {"_shape": None},
    {"indptr": np.array([0, 9, 2])}, {"indices": np.array([[0, 1]])}])
def test_matrices_of_other_parts(change):
    matrix = scipy.sparse.csr_matrix(np.eye(2))
    matrix.__dict__ |= change
    with pytest.raises(FileError, match=r"^a[ :]"):
        read_pickled_csr(pickle.dumps(matrix, protocol=2), "a")
