# SPDX-License-Identifier: BSD-2-Clause
"""Turns VCD files into FST files, the compressed format of GTKWave and Surfer."""

import errno
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from hypercast.errors import InputError
from hypercast.host.files.durable_file import replace_when_written

__all__ = ["fst_library", "write_fst"]

#: Scales of time that a VCD file may have, as FST writes them: powers of ten seconds.
_UNITS = {"s": 0, "ms": -3, "us": -6, "ns": -9, "ps": -12, "fs": -15}


def fst_library() -> ModuleType:
    """The package that writes FST files.

    Raises
    ------
    InputError
        If it is not installed.
    """
    try:
        import pylibfst
    except ImportError as error:
        raise InputError("FST files are written by pylibfst, which is not installed; pip install "
                         "'hypercast-gcn[fst]', or write a VCD file") from error
    return pylibfst  # type: ignore[no-any-return]


def write_fst(lines: Iterable[str], target: Path) -> None:
    """Write a VCD file's waveforms as an FST file.

    Parameters
    ----------
    lines : iterable of str
        The VCD file's lines: wires and strings, as pyvcd and CXXRTL write them.
    target : pathlib.Path
        The FST file.

    Raises
    ------
    OSError
        If the file cannot be written.
    InputError
        If pylibfst is not installed.
    """
    library = fst_library()
    with replace_when_written(target) as path:
        writer = library.lib.fstWriterCreate(os.fsencode(path), 1)
        if writer == library.ffi.NULL:
            raise OSError(errno.EIO, "it cannot be written", str(target))
        lines = iter(lines)  # both go on with the same
        try:
            file = _Fst(library, writer)
            file.declare(_tokens(lines))
            file.changes(line.split() for line in lines)
        finally:
            library.lib.fstWriterClose(writer)


def _tokens(lines: Iterable[str]) -> Iterator[list[str]]:
    """The declarations of a VCD file, each as its words without ``$end``, whatever their lines."""
    words: list[str] = []
    for line in lines:
        for word in line.split():
            if word != "$end":
                words.append(word)
                continue
            yield words
            if words[0] == "$enddefinitions":
                return
            words = []


class _Fst:
    """A file that is being written, and its variables."""

    def __init__(self, library: ModuleType, writer: Any) -> None:
        self._lib, self._null = library.lib, library.ffi.NULL
        self._writer = writer
        self._variables: dict[str, tuple[int, int]] = {}  # code to (handle, bits; strings have 0)

    def declare(self, declarations: Iterable[list[str]]) -> None:
        """Scopes and variables; several names of one variable stay one."""
        for words in declarations:
            match words:
                case ["$timescale", *scale]:
                    number = "".join(scale)
                    unit = number.lstrip("0123456789")
                    power = len(number) - len(unit) - 1
                    self._lib.fstWriterSetTimescale(self._writer, _UNITS[unit] + power)
                case ["$scope", _, name]:
                    self._lib.fstWriterSetScope(
                        self._writer, self._lib.FST_ST_VCD_MODULE, name.encode(), self._null)
                case ["$upscope"]:
                    self._lib.fstWriterSetUpscope(self._writer)
                case ["$var", kind, bits, code, *name]:
                    text = kind == "string"
                    known, size = self._variables.get(code, (0, 0 if text else int(bits)))
                    handle = self._lib.fstWriterCreateVar(
                        self._writer,
                        self._lib.FST_VT_GEN_STRING if text else self._lib.FST_VT_VCD_WIRE,
                        self._lib.FST_VD_IMPLICIT, size, " ".join(name).encode(), known)
                    self._variables[code] = known or handle, size

    def changes(self, lines: Iterable[list[str]]) -> None:
        """Times and values."""
        for words in lines:
            match words:
                case [time] if time[0] == "#":
                    self._lib.fstWriterEmitTimeChange(self._writer, int(time[1:]))
                case [value, code] if value[0] == "s":
                    text = value[1:].encode()
                    self._lib.fstWriterEmitVariableLengthValueChange(
                        self._writer, self._variables[code][0], text, len(text))
                case [value, code] if value[0] == "b":
                    self._change(code, value[1:])
                case [both] if both[0] in "01xz":
                    self._change(both[1:], both[0])

    def _change(self, code: str, value: str) -> None:
        """Write a change. VCD leaves out bits on the left: zeros, or copies of an x or z."""
        handle, bits = self._variables[code]
        filled = value.rjust(bits, "0" if value[0] == "1" else value[0])
        self._lib.fstWriterEmitValueChange(self._writer, handle, filled.encode())
