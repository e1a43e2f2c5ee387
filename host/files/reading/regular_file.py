# SPDX-License-Identifier: BSD-2-Clause
"""Opens files to be read: regular ones only, and text that is UTF-8."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, TypeAlias

from hypercast.errors import InputError

__all__ = ["DESCRIPTION_BYTES", "FileError", "Place", "check_size", "intact", "one_line",
           "open_regular", "read_bytes", "read_text"]

#: A path, or, in messages, what names a place in a file.
Place: TypeAlias = str | os.PathLike[str]

#: More than that was not written by hand.
DESCRIPTION_BYTES = 1 << 20

#: Characters of a message.
_LONGEST = 1200
_KINDS = {stat.S_IFIFO: "a FIFO", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device",
          stat.S_IFSOCK: "a socket", stat.S_IFDIR: "a folder"}


class FileError(InputError):
    """A file that cannot be read, or that holds what it should not.

    The message names the file, the place in it, and, after the last semicolon, what to do; it is
    a line, whatever of the file is in it.
    """

    def __init__(self, text: str) -> None:
        super().__init__(one_line(text))


def one_line(text: str) -> str:
    """A text as a line that is not too long; bytes of paths that are no text do not change."""
    text = " ".join(text.splitlines())
    text = "".join(one if one.isprintable() or "\udc80" <= one <= "\udcff"
                   else repr(one)[1:-1] for one in text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST // 2]} ... {text[-_LONGEST // 3:]}"


@contextmanager
def open_regular(path: Place) -> Iterator[BinaryIO]:
    """The binary file object of a regular file.

    Parameters
    ----------
    path : path-like
        What would make a reader wait or never end, such as a FIFO or a device, is refused.

    Raises
    ------
    FileError
        If it cannot be read, or is no regular file.
    """
    if "\0" in str(path):
        raise FileError(f"{str(path)!r} is no path of a file; check the path")
    try:
        _check_kind(path, os.stat(path))
        # What was replaced since is looked at again, and must not make this wait either.
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(number, "rb") as file:
            _check_kind(path, os.fstat(number))
            yield file
    except FileNotFoundError as error:
        raise FileError(f"{path} does not exist; check the path") from error
    except OSError as error:
        raise FileError(f"{path} cannot be read ({error.strerror or error}); check the path and "
                        f"your permissions") from error


def _check_kind(path: Place, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "something else")
        raise FileError(f"{path} is {kind}, not a regular file; give the path of a file")


def check_size(place: Place, size: int) -> None:
    """Refuse ``size`` bytes of ``place`` if this machine's memory does not hold them."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if size > memory:
        raise FileError(f"{place} takes {size / 2**30:,.1f} GiB, but this machine has "
                        f"{memory / 2**30:,.1f} GiB of memory; take a smaller one")


@contextmanager
def intact(path: Place, what: str, known: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Turns whatever a parser raises about a file into a ``FileError``.

    Parameters
    ----------
    path : path-like
        The file, or the place in it.
    what : str
        What it should be.
    known : tuple of type
        Errors that say themselves what is wrong.
    """
    try:
        yield
    except Exception as error:  # damaged files can raise anything
        if isinstance(error, (FileError, *known)):
            raise
        text = " ".join(str(error).split()) or type(error).__name__
        raise FileError(f"{path} is damaged or not {what} ({text}); make it again") from error


def read_bytes(path: Place, *, most: int | None = None) -> bytes:
    """All bytes of a regular file.

    Parameters
    ----------
    path : path-like
        The file.
    most : int, optional
        It may have that many; as many as memory holds if not given.

    Raises
    ------
    FileError
        If it cannot be read, or has more.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if most is not None and size > most:
            raise FileError(f"{path} has {size:,} bytes, but at most {most:,} are expected; give "
                            f"the path of another file")
        check_size(path, size)
        return file.read()


def read_text(path: Place, *, most: int | None = None) -> str:
    """The text of a UTF-8 file, without a byte order mark; parameters as for ``read_bytes``.

    Raises
    ------
    FileError
        If it cannot be read, or is no UTF-8: names the line and the byte.
    """
    content = read_bytes(path, most=most)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        start = error.start
        if content.startswith(b"\xef\xbb\xbf"):
            start += 3  # the error counts from the mark on
        line = content.count(b"\n", 0, start) + 1
        raise FileError(f"{path}, line {line}: byte {start} is {content[start]:#04x}, which is no "
                        f"UTF-8; save the file as UTF-8") from error
