# SPDX-License-Identifier: BSD-2-Clause
"""Keeps things on the disk that take long to make: made once, found again, made anew if damaged.

Compiled code is kept here, and whoever loads it executes it. So what another user could have
written is neither taken nor written to.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import pwd
import shutil
import stat
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["cache_folder", "distrust", "ensure", "find_entry"]

#: In an entry: the SHA-256 of all else in it.
_DIGEST = "sha256"
#: Beside an entry: the folder where it is being made, and the lock of the process that makes it.
_BUILD, _LOCK = ".build", ".lock"
#: Bits of a mode that let others write.
_WRITABLE = stat.S_IWGRP | stat.S_IWOTH
_REMEDY = "set HYPERCAST_CACHE to a folder of your own"
#: What this process has said.
_WARNED: set[str] = set()


def cache_folder() -> Path:
    """Where entries are kept, by their kinds.

    It is ``$HYPERCAST_CACHE``, or else ``hypercast`` in ``$XDG_CACHE_HOME`` or ``~/.cache``; of a
    user without a home, a folder for temporary files.
    """
    if given := os.environ.get("HYPERCAST_CACHE"):
        return Path(given).absolute()
    base, home = os.environ.get("XDG_CACHE_HOME", ""), os.environ.get("HOME", "")
    if os.path.isabs(base):
        return Path(base, "hypercast")
    try:
        return Path(home if os.path.isabs(home) else pwd.getpwuid(os.getuid()).pw_dir,
                    ".cache", "hypercast")
    except KeyError:
        return _temporary()


def ensure(kind: str, name: str, make: Callable[[Path], None], *, root: Path | None = None,
           progress: Callable[[str], None] = lambda text: None) -> Path:
    """The folder of an entry, which is made if it is not there, or damaged.

    Who asks for an entry that another process is making waits for it. What processes left that were
    killed is removed. Where ``root`` cannot be written, or another user can write there, entries
    are kept in a folder for temporary files, and a warning says so.

    Parameters
    ----------
    kind : str
        What has entries of its own, in a folder by this name.
    name : str
        The entry's; what decides its contents is in it, as a digest.
    make : callable
        Writes the entry's files to the folder that is its argument; if it fails, that stays until
        the next entry of this kind is made.
    root : pathlib.Path, optional
        Where entries are kept, instead of ``cache_folder()``.
    progress : callable
        Called with a line of text before waiting.

    Raises
    ------
    OSError
        If no folder can be used, or the entry cannot be written.
    """
    if entry := find_entry(kind, name, root=root):
        return entry
    reasons = []
    for place in _places(root):
        entry = place / kind / name
        try:
            lock = _open_lock(entry)
        except OSError as error:
            reasons.append(f"{error.strerror}" if error.filename is None else
                           f"{error.filename} cannot be written: {error.strerror}")
            continue
        if reasons:
            _warn_once(f"{reasons[0]}; what is compiled is kept in {place} instead; {_REMEDY}")
        with _hold_lock(lock, progress):
            if not _whole(entry):  # or else the process that was waited for made it
                _remove_abandoned(entry)
                _make(entry, make)
        return entry
    raise OSError(errno.EACCES, f"{'; '.join(reasons)}; {_REMEDY}")


def find_entry(kind: str, name: str, *, root: Path | None = None) -> Path | None:
    """The folder of an entry, if it is there, as it was made, and nobody else could change it.

    Parameters
    ----------
    kind, name, root
        As of ``ensure``.
    """
    entries = (place / kind / name for place in _places(root))
    return next((entry for entry in entries if not distrust(entry.parent) and _whole(entry)), None)


def distrust(folder: Path) -> str:
    """Why entries in a folder are not taken; empty if they are, or if it is not there yet.

    Parameters
    ----------
    folder : pathlib.Path
        One of a kind of entries, in a cache.
    """
    for place in (folder.parent, folder):
        try:
            if reason := _distrust(place):
                return reason
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except OSError as error:
            return f"{place} cannot be read: {error.strerror}"
    return ""


def _distrust(path: Path) -> str:
    """Why a folder or a file may be another user's work; empty if it is not."""
    status = path.lstat()
    if not (stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)):
        return f"{path} is neither a folder nor a file"
    if status.st_uid not in (os.geteuid(), 0):
        return f"{path} belongs to another user"
    if status.st_mode & _WRITABLE:
        return f"other users can write to {path} (chmod go-w prevents it)"
    return ""


def _warn_once(text: str) -> None:
    if text not in _WARNED:
        _WARNED.add(text)
        warnings.warn(text, RuntimeWarning, stacklevel=3)


def _temporary() -> Path:
    """This user's own folder among temporary files."""
    return Path(tempfile.gettempdir(), f"hypercast-{os.geteuid()}")


def _places(root: Path | None) -> list[Path]:
    """Where an entry may be, first of all where it should be."""
    chosen = Path(os.path.realpath(root or cache_folder()))  # the user may have put a link there
    return [*dict.fromkeys([chosen, _temporary()])]


def _open_lock(entry: Path) -> int:
    """The descriptor of an entry's lock, in a folder which is made if there is none."""
    for folder in (*reversed(entry.parents[1].parents), entry.parents[1], entry.parents[0]):
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o755)
    if reason := distrust(entry.parent):
        raise OSError(errno.EPERM, reason)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
    return os.open(entry.with_name(f"{entry.name}{_LOCK}"), flags, 0o644)


@contextlib.contextmanager
def _hold_lock(lock: int, progress: Callable[[str], None]) -> Iterator[None]:
    """Hold the right to make an entry; the process's end gives it up, too."""
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("waiting for another process that compiles the same")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _make(entry: Path, make: Callable[[Path], None]) -> None:
    built = Path(tempfile.mkdtemp(prefix=f"{entry.name}.", suffix=_BUILD, dir=entry.parent))
    make(built)
    (built / _DIGEST).write_text(_digest(built))
    for path in built.rglob("*"):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & ~_WRITABLE)
    built.chmod(0o755)  # for other users, if root makes entries for all of them
    _remove(entry)
    built.rename(entry)


def _whole(entry: Path) -> bool:
    """Whether an entry is there, and as it was made."""
    try:
        return not any(_distrust(path) for path in (entry, *entry.rglob("*"))) and \
            (entry / _DIGEST).read_text() == _digest(entry)
    except (OSError, UnicodeDecodeError):
        return False


def _digest(entry: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(entry.rglob("*")):
        if path.is_file() and path != entry / _DIGEST:
            name = str(path.relative_to(entry)).encode()
            digest.update(b"%d %s %d " % (len(name), name, path.stat().st_size))
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _remove_abandoned(entry: Path) -> None:
    """Remove what is beside an entry, which this process holds, of what nobody goes on with."""
    for path in entry.parent.glob(f"*{_BUILD}"):
        other = entry.with_name(path.name.removesuffix(_BUILD).rpartition(".")[0])
        with contextlib.suppress(OSError):
            lock = _open_lock(other)
            try:
                if other != entry:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # A compiler that outlived its build may still be writing there.
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)
