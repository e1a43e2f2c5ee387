# SPDX-License-Identifier: BSD-2-Clause
"""Sparse matrices from files, checked whole before SciPy's compiled code follows their indices."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.host.files.reading.arrays import opened_archive
from hypercast.host.files.reading.regular_file import FileError, Place

__all__ = ["checked_csr", "read_csr", "require_entries"]

_REMEDY = "save the matrix again"


def checked_csr(data: npt.ArrayLike, indices: npt.ArrayLike, starts: npt.ArrayLike,
                shape: npt.ArrayLike, place: Place) -> scipy.sparse.csr_array:
    """A CSR array of its parts.

    Parameters
    ----------
    data : (N,) array
        The matrix's entries: real numbers.
    indices : (N,) array of int
        Columns of the entries.
    starts : (rows + 1,) array of int
        Where rows begin in these (``indptr``): from 0, never decreasing, up to N.
    shape : pair of int
        Rows and columns.
    place : path-like
        Where it is from, for messages.

    Raises
    ------
    FileError
        If the parts are anything else.
    """
    data = _vector(data, "data", "biuf", place)
    indices, starts, shape = (_vector(part, name, "iu", place) for part, name in (
        (indices, "indices"), (starts, "index pointers"), (shape, "shape")))
    if len(shape) != 2 or shape.min() < 0:
        raise FileError(f"{place}: shape {shape.tolist()} is not of rows and columns; {_REMEDY}")
    rows, columns = shape.tolist()
    if len(starts) != rows + 1:
        raise FileError(f"{place}: there are {len(starts)} index pointers for {rows} rows, not "
                        f"one more than rows; {_REMEDY}")
    if len(data) != len(indices) or starts[0] != 0 or starts[-1] != len(data):
        raise FileError(f"{place}: index pointers go from {starts[0]} to {starts[-1]}, but there "
                        f"are {len(indices)} indices and {len(data)} values; {_REMEDY}")
    back = np.flatnonzero(starts[1:] < starts[:-1])
    if back.size:
        raise FileError(f"{place}: index pointer {back[0] + 1} is {starts[back[0] + 1]}, after "
                        f"{starts[back[0]]}; {_REMEDY}")
    outside = np.flatnonzero((indices < 0) | (indices >= columns))
    if outside.size:
        raise FileError(f"{place}: index {outside[0]} is {indices[outside[0]]}, but columns are 0 "
                        f"to {columns - 1}; {_REMEDY}")
    kind = scipy.sparse.get_index_dtype(maxval=max(len(data), rows, columns))
    return scipy.sparse.csr_array(
        (data, indices.astype(kind), starts.astype(kind)), shape=(rows, columns))


def _vector(values: npt.ArrayLike, name: str, kinds: str, place: Place) -> npt.NDArray[Any]:
    """The same vector; of integers, as int64."""
    values = np.asarray(values)
    if values.ndim != 1 or (values.dtype.kind not in kinds and values.size):
        raise FileError(f"{place}: {name} of shape {values.shape} and type {values.dtype} are no "
                        f"vector of {'whole' if kinds == 'iu' else 'real'} numbers; {_REMEDY}")
    if kinds != "iu":
        return values
    if values.size and values.max() >= 1 << 63:
        raise FileError(f"{place}: {name} reach {values.max()}; {_REMEDY}")
    return values.astype(np.int64)


def read_csr(path: Place) -> scipy.sparse.csr_array:
    """The CSR array that ``scipy.sparse.save_npz`` wrote.

    Raises
    ------
    FileError
        If the file is damaged, or holds a matrix of another format.
    """
    with opened_archive(path) as parts:
        form = parts["format"]
        if form.ndim or form.tobytes().replace(b"\0", b"") != b"csr":
            raise FileError(f"{path} holds a matrix of another format than csr; save its tocsr()")
        data, indices, starts, shape = (
            parts[name] for name in ("data", "indices", "indptr", "shape"))
        return checked_csr(data, indices, starts, shape, path)


def require_entries(matrix: scipy.sparse.csr_array, place: Place) -> None:
    """Refuse a matrix of edges that has entries of zero, or such as are no number.

    Whether they are edges, their values do not say.

    Raises
    ------
    FileError
        If there is one; names the first.
    """
    bad = np.flatnonzero((matrix.data == 0) | ~np.isfinite(matrix.data))
    if bad.size:
        row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
        raise FileError(f"{place}: the entry of row {row} and column {matrix.indices[bad[0]]} is "
                        f"{matrix.data[bad[0]]}, so there is an edge or none; save the matrix "
                        f"after eliminate_zeros(), without entries that are no number")
