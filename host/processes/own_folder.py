# SPDX-License-Identifier: BSD-2-Clause
"""Folders of one process: removed when it has ended, by itself or by the next that makes one."""

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
import time
from pathlib import Path
from typing import Self

__all__ = ["SEGMENTS", "SHARED_MEMORY", "OwnFolder", "remove_left"]

#: Where memory that processes share is a file.
SHARED_MEMORY = Path("/dev/shm")
#: Parameters of Open MPI 5 and 4: where such files are made.
SEGMENTS = ("OMPI_MCA_btl_sm_backing_directory", "OMPI_MCA_btl_vader_backing_directory")
_PREFIX = "hypercast-boards-"
#: Seconds in which a folder that has just been made is locked.
_SOON = 10.0


class OwnFolder:
    """A folder in another one, locked while this process lives.

    A process that is killed leaves its folder behind, and its lock ends with it. So whoever makes
    the next one sees that nobody needs it, and removes it.

    Parameters
    ----------
    base : pathlib.Path
        Where to make it.

    Attributes
    ----------
    path : pathlib.Path
        The folder.

    Raises
    ------
    OSError
        If none can be made there.
    """

    def __init__(self, base: Path) -> None:
        remove_left(base)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
        self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Remove the folder and what is in it; nothing if that has been."""
        if self._lock >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1


def remove_left(base: Path) -> None:
    """Remove the folders of this user's processes that were killed."""
    with contextlib.suppress(OSError):
        for path in base.glob(f"{_PREFIX}*"):
            with contextlib.suppress(OSError):
                _remove_if_left(path)


def _remove_if_left(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        found = os.fstat(descriptor)
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) != stat.S_IRWXU:
            return
        if time.time() - found.st_mtime < _SOON and not os.listdir(descriptor):
            return  # perhaps it is not locked yet
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path)
    finally:
        os.close(descriptor)
