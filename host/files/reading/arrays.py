# SPDX-License-Identifier: BSD-2-Clause
"""NumPy's files: ``.npy``, and archives ``.npz`` of them. Nothing in them is executed."""

import math
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from hypercast.host.files.reading.regular_file import (
    FileError,
    Place,
    check_size,
    intact,
    open_regular,
)

__all__ = ["Archive", "array_names", "opened_archive", "read_array"]

_BLOCK = 1 << 24
_SUFFIX = ".npy"
#: Numbers, truth values and the text by which SciPy names a format.
_KINDS = "biufSU"


def read_array(path: Place) -> npt.NDArray[Any]:
    """The array in a ``.npy`` file.

    Raises
    ------
    FileError
        If it cannot be read, is damaged, or holds anything but numbers.
    """
    with open_regular(path) as file, intact(path, "an array of NumPy"):
        size = file.seek(0, 2)
        file.seek(0)
        return _array(file, size, path)


def _array(file: IO[bytes], size: int, place: Place) -> npt.NDArray[Any]:
    """The array in a file object of ``size`` bytes, which is read to its end."""
    version = np.lib.format.read_magic(file)
    if version > (2, 0):
        raise FileError(f"{place} has columns with names; save an array of numbers")
    header = (np.lib.format.read_array_header_1_0 if version == (1, 0)
              else np.lib.format.read_array_header_2_0)
    shape, fortran, dtype = header(file)
    start = file.tell()
    if dtype.kind not in _KINDS or dtype.itemsize == 0:
        raise FileError(f"{place} is of type {dtype}; save an array of numbers")
    if any(type(length) is not int or length < 0 for length in shape):
        raise FileError(f"{place} has shape {shape}; save the array again")
    count = math.prod(shape)
    if count * dtype.itemsize != size - start:
        raise FileError(f"{place} has shape {shape} and type {dtype}, which take "
                        f"{count * dtype.itemsize:,} bytes, but has {size - start:,}; save the "
                        f"array again")
    check_size(place, size)
    values = np.empty(count, dtype)
    _fill(file, values.view(np.uint8).data, place)
    if dtype.kind == "b" and values.view(np.uint8).max(initial=0) > 1:
        raise FileError(f"{place} has truth values that are neither 0 nor 1; save the array again")
    values = values.astype(dtype.newbyteorder("="), copy=False)
    return values.reshape(shape[::-1]).T if fortran else values.reshape(shape)


def _fill(file: IO[bytes], content: memoryview, place: Place) -> None:
    """Read all of ``content``, and see that the file ends there, so that its checksum is seen."""
    done = 0
    while part := file.read(_BLOCK):
        if done + len(part) > len(content):
            raise FileError(f"{place} is longer than it says; save the array again")
        content[done:done + len(part)] = part
        done += len(part)
    if done != len(content):
        raise FileError(f"{place} ends early; save the array again")


class Archive:
    """Arrays by name; each is read when it is asked for.

    Parameters
    ----------
    path : path-like
        The file, for messages.
    file : zipfile.ZipFile
        It, opened.

    Attributes
    ----------
    names : list of str
        Names of the arrays.
    """

    def __init__(self, path: Place, file: zipfile.ZipFile) -> None:
        self._path = path
        self._file = file
        self.names = [name.removesuffix(_SUFFIX) for name in file.namelist()]
        for name, times in Counter(self.names).most_common(1):
            if times > 1:
                raise FileError(f"{path} has {name} {times} times; save the arrays again")

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        if name not in self.names:
            raise FileError(f"{self._path} has no array {name}, but {', '.join(self.names)[:200]}; "
                            f"save the arrays again")
        place = f"{self._path}, array {name},"
        with intact(place, "one of NumPy"):
            member = self._file.getinfo(
                name if name in self._file.NameToInfo else f"{name}{_SUFFIX}")
            with self._file.open(member) as file:
                return _array(file, member.file_size, place)


@contextmanager
def opened_archive(path: Place) -> Iterator[Archive]:
    """The ``Archive`` in a ``.npz`` file.

    Raises
    ------
    FileError
        If it cannot be read, or is damaged; also while it is open.
    """
    with open_regular(path) as file:
        with intact(path, "an archive of NumPy"):
            found = zipfile.ZipFile(file)
            archive = Archive(path, found)
        with found:
            yield archive


def array_names(path: Place) -> list[str]:
    """Names of the arrays in a file; none if it is no ``.npz`` file."""
    try:
        with opened_archive(path) as archive:
            return archive.names
    except FileError:
        return []
