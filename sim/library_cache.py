"""Keeps libraries that take minutes to build: each is built once, and again if it is damaged."""

import contextlib
import fcntl
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["LIBRARY", "cached"]

#: The library's file in its folder; beside it lies its SHA-256.
LIBRARY = "simulation.so"
_DIGEST = f"{LIBRARY}.sha256"
#: Besides a library's folder: where it is being built, and what the process that does so holds.
_BUILD, _LOCK = ".build", ".lock"


def cached(folder: Path, make: Callable[[Path], None], *,
           progress: Callable[[str], None] = lambda text: None) -> Path:
    """The path of the library in ``folder``, which is made if it is not there, or damaged.

    Who asks for a library that another process is making waits for it. What processes left that
    were killed is removed.

    Parameters
    ----------
    folder : pathlib.Path
        Where it is kept. Those beside it are of other libraries.
    make : callable
        Makes the file ``LIBRARY`` in the folder that is its argument; if it fails, that stays until
        the next library is made.
    progress : callable
        Called with a line of text before waiting.
    """
    library = folder / LIBRARY
    if _whole(folder):
        return library
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _holding(folder, progress):
        if not _whole(folder):  # or else the process that was waited for made it
            _remove_abandoned(folder)
            _make(folder, make)
    return library


def _make(folder: Path, make: Callable[[Path], None]) -> None:
    built = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", suffix=_BUILD, dir=folder.parent))
    make(built)
    for path in built.iterdir():
        if path.name != LIBRARY:
            _remove(path)
    (built / _DIGEST).write_text(_digest(built))
    _remove(folder)
    built.rename(folder)


def _whole(folder: Path) -> bool:
    """Whether a library is there, and as it was made."""
    try:
        return (folder / _DIGEST).read_text() == _digest(folder)
    except (OSError, UnicodeDecodeError):
        return False


def _digest(folder: Path) -> str:
    with (folder / LIBRARY).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _remove_abandoned(folder: Path) -> None:
    """Remove what is beside ``folder`` of builds that nobody goes on with."""
    for path in folder.parent.glob(f"*{_BUILD}"):
        name = path.name.removesuffix(_BUILD).rpartition(".")[0]
        with _lock_file(folder.with_name(name)).open("a") as file, \
                contextlib.suppress(BlockingIOError):
            if name != folder.name:  # which this process holds
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # A compiler that outlived its build may still be writing there.
            shutil.rmtree(path, ignore_errors=True)


def _lock_file(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}{_LOCK}")


@contextlib.contextmanager
def _holding(folder: Path, progress: Callable[[str], None]) -> Iterator[None]:
    """Hold the right to make the library of a folder; the process's end gives it up, too."""
    with _lock_file(folder).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("waiting for another process that compiles the same chip")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
