# SPDX-License-Identifier: BSD-2-Clause
"""Tables of numbers with commas between, also compressed by gzip."""

import gzip
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from hypercast.host.files.reading.regular_file import (
    FileError,
    Place,
    check_size,
    intact,
    open_regular,
)
from hypercast.host.files.reading.whole_numbers import whole_number

__all__ = ["read_real_numbers", "read_whole_numbers"]

Real = TypeVar("Real", np.float32, np.float64)
Number = TypeVar("Number", np.int64, np.float32, np.float64)

_BLOCK = 1 << 24
_MARK = b"\xef\xbb\xbf"
_REAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf)",
                   re.ASCII | re.IGNORECASE)
#: What a column can be called.
_NAME = re.compile(r"[^\W\d][\w .-]*")
#: A whole number with zeros in front, or a zero with a sign.
_ODD = re.compile(rb"(?<![0-9])(?:0[0-9]|-0)")
#: All that such tables consist of; what NumPy makes of these is what they say.
_ALPHABETS = {np.int64: b"-0123456789,\r\n", np.float32: b"+-.0123456789eEnaifNAIF,\r\n",
              np.float64: b"+-.0123456789eEnaifNAIF,\r\n"}


def read_whole_numbers(path: Place, *, names: bool = False) -> npt.NDArray[np.int64]:
    """A (rows, columns) int64 array.

    Parameters
    ----------
    path : path-like
        The file; it is compressed if it ends in ``.gz``.
    names : bool
        Whether the first line may name the columns: one for each column. Names begin with a letter
        or ``_``, and hold nothing but these, digits, spaces, ``.`` and ``-``.

    Raises
    ------
    FileError
        If it cannot be read, or holds anything but as many whole numbers in every line.
    """
    return _read(path, np.int64, names)


def read_real_numbers(path: Place, dtype: type[Real]) -> npt.NDArray[Real]:
    """A (rows, columns) array of float32 or float64; otherwise like ``read_whole_numbers``."""
    return _read(path, dtype, False)


def _read(path: Place, dtype: type[Number], names: bool) -> npt.NDArray[Number]:
    parts, done, columns = list[npt.NDArray[Number]](), 0, 0
    with open_regular(path) as file, intact(path, "a table of numbers"):
        if not file.seek(0, os.SEEK_END):  # which gzip takes for no lines
            raise FileError(f"{path} is empty, of 0 bytes; get it again")
        file.seek(0)
        stream = gzip.GzipFile(fileobj=file) if str(path).endswith(".gz") else file
        for lines in _blocks(stream, path):
            if not done:
                lines[0] = lines[0].removeprefix(_MARK)
                if names and (columns := _names(lines[0])):
                    lines[0] = b""
            parts.append(_numbers(lines, dtype, done, path))
            done += len(lines)
            check_size(path, sum(part.nbytes for part in parts))
    parts = [part for part in parts if len(part)]
    if not parts:
        return np.zeros((0, 2), dtype)
    if columns and parts[0].shape[1] != columns:
        raise FileError(f"{path} names {columns} columns, but has {parts[0].shape[1]} numbers in a "
                        f"line; correct the file")
    for part in parts:
        if part.shape[1] != parts[0].shape[1]:
            raise FileError(f"{path} has lines of {parts[0].shape[1]} and of {part.shape[1]} "
                            f"numbers; correct the file")
    return np.concatenate(parts)


class _Stream(Protocol):
    """A file, compressed or not."""

    def read(self, size: int, /) -> bytes: ...


def _blocks(stream: _Stream, path: Place) -> Iterator[list[bytes]]:
    """Lines, many at a time; a line without an end is not waited for."""
    rest = b""
    while block := stream.read(_BLOCK):
        *lines, rest = (rest + block).split(b"\n")
        if len(rest) > _BLOCK:
            raise FileError(f"{path} has a line of more than {_BLOCK:,} bytes; correct the file")
        if lines:
            yield lines
    if rest:
        yield [rest]


def _names(line: bytes) -> int:
    """How many columns a line names; 0 if it does not."""
    fields = [field.strip().strip('"') for field in line.decode("utf-8").split(",")]
    named = all(_NAME.fullmatch(field) and not _REAL.fullmatch(field) for field in fields)
    return len(fields) if named else 0


def _numbers(lines: Sequence[bytes], dtype: type[Number], done: int,
             path: Place) -> npt.NDArray[Number]:
    """Numbers of some lines after the first ``done``; the slow way only if they are bad."""
    text = b"\n".join(lines)
    if not text.translate(None, _ALPHABETS[dtype]) and not (
            dtype is np.int64 and _ODD.search(text)):
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "loadtxt: input contained no data")
                return np.loadtxt([line.decode("ascii") for line in lines], dtype=dtype,
                                  delimiter=",", ndmin=2, comments=None)
        except ValueError:
            pass  # where and why is found out below
    columns = None
    for number, line in enumerate(lines, done + 1):
        row = line.decode("utf-8", "backslashreplace").rstrip("\r")
        fields = row.split(",") if row else []
        for field in fields:
            if not _spells(field, dtype):
                kind = "whole number" if dtype is np.int64 else "number"
                raise FileError(f"{path}, line {number}: {field[:40]!r} is no {kind}; correct the "
                                f"file")
        if fields and columns not in (None, len(fields)):
            raise FileError(f"{path}, line {number} has {len(fields)} numbers, but lines before "
                            f"have {columns}; correct the file")
        columns = len(fields) or columns
    raise FileError(f"{path} is no table of numbers; correct the file")


def _spells(field: str, dtype: type[np.number[Any]]) -> bool:
    if dtype is not np.int64:
        return _REAL.fullmatch(field) is not None
    try:
        whole_number(field)
    except ValueError:
        return False
    return True
