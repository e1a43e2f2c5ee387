# SPDX-License-Identifier: BSD-2-Clause
"""Pickles of arrays, CSR matrices, dictionaries and lists; nothing in them is executed."""

import io
import math
import pickle
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse

from hypercast.host.files.reading.csr import checked_csr
from hypercast.host.files.reading.regular_file import FileError, Place

__all__ = ["read_pickled_array", "read_pickled_arrays", "read_pickled_csr", "read_pickled_lists"]

Held = TypeVar("Held")

#: The rest of a data type's state, after the byte order: of a number, not of a structure.
_PLAIN = (None, None, None, -1, -1, 0)


class _Type:
    """A data type, as NumPy pickles one; NumPy's own would take any state, and crash on some."""

    def __init__(self, text: object, align: object = False, copy: object = False) -> None:
        self.numpy = np.dtype(str(text))
        if self.numpy.kind not in "biuf":
            raise pickle.UnpicklingError(f"type {text!r} is not expected in a data set")

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, order, *rest = state
        if tuple(rest) != _PLAIN:
            raise pickle.UnpicklingError("a structured type is not expected in a data set")
        self.numpy = self.numpy.newbyteorder(order)


class _Array:
    """An array, as NumPy pickles one."""

    values: npt.NDArray[Any] | None = None

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, kind, fortran, content = state
        if isinstance(content, str):
            content = content.encode("latin1")
        values = np.frombuffer(content, kind.numpy)
        if any(type(length) is not int or length < 0 for length in shape) or \
                math.prod(shape) != values.size:
            raise pickle.UnpicklingError(f"an array of shape {shape} has {values.size} values")
        if values.dtype.kind == "b" and values.view(np.uint8).max(initial=0) > 1:
            raise pickle.UnpicklingError("truth values are neither 0 nor 1")
        values = values.astype(values.dtype.newbyteorder("="))
        self.values = values.reshape(shape[::-1]).T if fortran else values.reshape(shape)


class _Matrix(SimpleNamespace):
    """A CSR matrix, as SciPy pickles it."""


def _encode(text: str, encoding: str) -> bytes:
    """How Python 3 pickles bytes for Python 2; only that encoding is let through."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"encoding {encoding} is not expected in a data set")
    return text.encode(encoding)


def _reconstruct(subtype: object, shape: object, typecode: object) -> _Array:
    """How NumPy pickles the array that the data that follow are put in."""
    if subtype is not _Array:
        raise pickle.UnpicklingError(f"array type {subtype} is not expected in a data set")
    return _Array()


def _no_bytes() -> bytes:
    """How Python 3 pickles empty bytes for Python 2."""
    return b""


def _default_dict(kind: object) -> dict[object, object]:
    """How the dictionary of lists begins."""
    return {}


#: All that a pickle may ask for, by the last part of the module's name and the name: modules were
#: renamed over the years (numpy.core and numpy._core, scipy.sparse.csr and scipy.sparse._csr).
_ALLOWED = {
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
    ("__builtin__", "bytes"): _no_bytes,
    ("collections", "defaultdict"): _default_dict,
    ("_codecs", "encode"): _encode,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Type,
    ("multiarray", "_reconstruct"): _reconstruct,
    ("csr", "csr_matrix"): _Matrix,
    ("_csr", "csr_matrix"): _Matrix,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module.rpartition(".")[2], name]
        except KeyError:
            if module == "torch._utils":
                raise pickle.UnpicklingError(
                    "it holds tensors, but arrays of NumPy are expected") from None
            raise pickle.UnpicklingError(
                f"it asks for {module}.{name}, which no data set needs") from None


def _unpickle(content: bytes, place: Place, kind: type[Held], text: str) -> Held:
    try:
        found = _Unpickler(io.BytesIO(content), encoding="latin1").load()
    except Exception as error:  # a damaged pickle can raise anything
        text = " ".join(str(error).split())
        raise FileError(f"{place} is truncated or damaged ({text}); make it again") from error
    if type(found) is not kind:
        raise FileError(f"{place} does not hold {text}; make it again")
    return found


def read_pickled_array(content: bytes, place: Place) -> npt.NDArray[Any]:
    """The array that a pickle holds.

    Parameters
    ----------
    content : bytes
        The file.
    place : path-like
        Where it is, for messages.

    Raises
    ------
    FileError
        If it is damaged, or holds anything else.
    """
    values = _unpickle(content, place, _Array, "an array").values
    if values is None:
        raise FileError(f"{place} holds an array without values; make it again")
    return values


def read_pickled_csr(content: bytes, place: Place) -> scipy.sparse.csr_array:
    """The CSR array that a pickle holds, its parts checked; otherwise like the array."""
    parts = vars(_unpickle(content, place, _Matrix, "a CSR matrix"))
    names = ("data", "indices", "indptr")
    found = [parts.get(name) for name in names]
    shape = parts.get("_shape")
    arrays = [part for part in found if type(part) is _Array]
    if len(arrays) < len(names) or not (
            isinstance(shape, tuple) and all(type(length) is int for length in shape)):
        raise FileError(f"{place} has no {', '.join(names)} and shape of a CSR matrix; make it "
                        f"again")
    data, indices, starts = (
        np.zeros(0) if part.values is None else part.values for part in arrays)
    return checked_csr(data, indices, starts, shape, place)


def read_pickled_arrays(content: bytes, place: Place) -> dict[Any, npt.NDArray[Any]]:
    """The dictionary of arrays that a pickle holds; otherwise like the array."""
    found = _unpickle(content, place, dict, "a dictionary of arrays")
    for name, held in found.items():
        if type(held) is not _Array or held.values is None:
            raise FileError(f"{place}: {str(name)[:40]!r} is no array; make it again")
    return {name: held.values for name, held in found.items()}


def read_pickled_lists(content: bytes, place: Place) -> dict[Any, Any]:
    """The dictionary of lists that a pickle holds; otherwise like the array."""
    return _unpickle(content, place, dict, "a dictionary of lists")
