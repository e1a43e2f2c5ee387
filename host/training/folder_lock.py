# SPDX-License-Identifier: BSD-2-Clause
"""One process at a time writes to a folder."""

import errno
import fcntl
import os
import stat
from pathlib import Path
from typing import TextIO

from hypercast.errors import InputError

__all__ = ["LOCK", "FolderLock", "FolderLockError"]

#: The file that is locked. It stays in the folder.
LOCK = "lock"


class FolderLockError(InputError):
    """Another process writes to the folder; names it, and says what to do."""


def _open_regular(path: Path) -> TextIO:
    """The file object of a regular file, which is made if there is none; others are not waited for.

    Where a link leads is not opened: it would be truncated.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_NOFOLLOW
    try:
        number = os.open(path, flags, 0o666)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.EISDIR):
            raise
        number = None
    if number is None or not stat.S_ISREG(os.fstat(number).st_mode):
        if number is not None:
            os.close(number)
        raise FolderLockError(f"{path} is no regular file, which the lock of a folder is; remove "
                              f"it, or give another folder")
    return os.fdopen(number, "a+", encoding="ascii", errors="replace")


class FolderLock:
    """Holds a folder until it is released, or the process ends, however that happens.

    Parameters
    ----------
    folder : pathlib.Path
        It is made if there is none. The file ``lock`` in it names the process that holds it, or
        held it last.

    Raises
    ------
    FolderLockError
        If another process, or another part of this one, holds it, or the file is no lock.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        # The file stays: else a process might wait for a file that is no longer there.
        self._file = _open_regular(folder / LOCK)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.seek(0)
            holder = self._file.read(20).strip()
            self._file.close()
            raise FolderLockError(
                f"{folder} is in use by process {holder or 'of unknown number'}; wait until that "
                f"ends, or give another folder") from None
        self._file.seek(0)
        if self._file.read(20).strip().strip("0123456789"):
            self._file.close()
            raise FolderLockError(f"{folder / LOCK} is no lock of a run, which has the number of "
                                  f"a process; rename it, or give another folder")
        self._file.truncate(0)
        self._file.write(f"{os.getpid()}\n")
        self._file.flush()

    def release(self) -> None:
        """Let others have the folder; nothing happens the second time."""
        self._file.close()
