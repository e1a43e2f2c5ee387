# SPDX-License-Identifier: BSD-2-Clause
"""Files that are the old ones or the new ones, whenever the machine stops, and whoever is near.

Others may be able to write to the folder: all users of a machine to ``/tmp``, a group to its own.
So what is written first has a name that nobody can foresee, and is made by this process or not at
all. No link of another user is followed.
"""

import contextlib
import errno
import os
import re
import secrets
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

__all__ = [
    "append_durably",
    "flush_folder",
    "open_new",
    "remove_abandoned",
    "replace_when_written",
    "require_folder",
    "require_writable",
    "write_durably",
]

#: What is written before it takes the place of a file.
_PART = re.compile(r"\.hypercast-[0-9a-f]{16}\.part")
#: Seconds without a write after which nobody goes on with it.
_ABANDONED = 3600.0
#: How many links lead from one to the next at most, as in the kernel.
_LINKS = 40


def write_durably(path: Path, content: bytes) -> None:
    """Replace a file in one step, and return once it is on the disk.

    Parameters
    ----------
    path : pathlib.Path
        The file; what a link leads to is replaced. A file of this user keeps its mode. In place of
        another user's, no more is allowed than in a new one.
    content : bytes
        What it shall hold.

    Raises
    ------
    OSError
        If it cannot be written, is a link of another user, or is a device, a pipe or a folder; the
        old one stays.
    """
    target = _target(path)
    with (_name_in_errors(path), _part(target) as (part, descriptor),
          os.fdopen(descriptor, "wb") as file):
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
        part.replace(target)
    flush_folder(target.parent)


def append_durably(path: Path, content: bytes) -> None:
    """Add to the end of a file, and return once that is on the disk; it is made if there is none.

    Raises
    ------
    OSError
        As ``write_durably`` does.
    """
    target = _target(path)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    with _name_in_errors(path), os.fdopen(os.open(target, flags, 0o666), "ab") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def open_new(path: Path) -> TextIO:
    """An empty file in the place of another, to be written bit by bit, and looked at meanwhile.

    Raises
    ------
    OSError
        As ``write_durably`` does.
    """
    target = _target(path)
    with _name_in_errors(path), _part(target) as (part, descriptor):
        part.replace(target)
        return os.fdopen(descriptor, "w", encoding="utf-8")


@contextlib.contextmanager
def replace_when_written(path: Path) -> Iterator[Path]:
    """A path where others' programs write what then replaces ``path``, if nothing fails.

    It is in a folder of its own, beside what it replaces. Other files that they write are there,
    too, and are removed.

    Raises
    ------
    OSError
        As ``write_durably`` does.
    """
    target = _target(path)
    with _name_in_errors(path), tempfile.TemporaryDirectory(
            prefix=".hypercast-", suffix=".part", dir=target.parent) as folder:
        written = Path(folder, target.name)
        yield written
        written.replace(target)


def require_writable(path: Path) -> None:
    """Raise ``OSError`` if ``write_durably`` cannot write to ``path``; nothing is left there."""
    with _name_in_errors(path), _part(_target(path)) as (part, descriptor):
        os.close(descriptor)
        part.unlink()


def require_folder(folder: Path) -> None:
    """Make a folder where there is none; raise ``OSError`` if no file can be written to it."""
    folder.mkdir(parents=True, exist_ok=True)
    require_writable(folder / "writable")


def remove_abandoned(folder: Path) -> None:
    """Remove what this user's processes wrote to a folder and did not finish, as they were killed.
    """
    for path in folder.iterdir():
        if _PART.fullmatch(path.name):
            with contextlib.suppress(OSError):  # it is gone
                found = path.lstat()
                if found.st_uid == os.geteuid() and time.time() - found.st_mtime > _ABANDONED:
                    path.unlink()


def flush_folder(folder: Path) -> None:
    """Return once the names of a folder's files are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _target(path: Path) -> Path:
    """Where links of this user, or of root, lead; raises ``OSError`` if it is no regular file."""
    found = path
    with _name_in_errors(path):
        for _ in range(_LINKS + 1):  # and what the last one leads to
            try:
                status = found.lstat()
            except FileNotFoundError:
                return found
            if stat.S_ISREG(status.st_mode):
                return found
            if not stat.S_ISLNK(status.st_mode):
                raise OSError(errno.EINVAL, "it is no regular file, so it cannot be replaced")
            if status.st_uid not in (os.geteuid(), 0):
                raise OSError(errno.EPERM, "it is a link of another user, which is not followed; "
                                           "give the path that it leads to")
            found = found.parent / found.readlink()
        raise OSError(errno.ELOOP, "it is a link that leads back to itself")


@contextlib.contextmanager
def _part(target: Path) -> Iterator[tuple[Path, int]]:
    """A new file beside the file that it shall replace, with its mode: path and descriptor.

    If something fails, it is removed.
    """
    path = target.with_name(f".hypercast-{secrets.token_hex(8)}.part")
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
    try:
        # There is none yet, or the file system keeps no modes.
        with contextlib.suppress(FileNotFoundError, PermissionError):
            before = target.lstat()
            own = before.st_uid == os.geteuid()
            allowed = 0o777 if own else stat.S_IMODE(os.fstat(descriptor).st_mode)
            os.fchmod(descriptor, before.st_mode & allowed)
        yield path, descriptor
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink()
        raise


@contextlib.contextmanager
def _name_in_errors(path: Path) -> Iterator[None]:
    """Name a path in errors, as a full disk does not, and what is written first is none's business.
    """
    try:
        yield
    except OSError as error:
        if error.errno:
            error.filename = str(path)
            del error.filename2
        raise
