"""Files that are the old ones or the new ones, whenever the machine stops."""

import contextlib
import errno
import os
from pathlib import Path

__all__ = ["flush_folder", "require_folder", "require_writable", "write_durably"]


def write_durably(path: Path, content: bytes) -> None:
    """Replace a file in one step, and return once it is on the disk.

    Parameters
    ----------
    path : pathlib.Path
        Beside it, ``*.part`` is written first. Of a link, what it leads to is replaced. A file
        keeps its mode.
    content : bytes
        What it shall hold.

    Raises
    ------
    OSError
        If it cannot be written, or is a device, a pipe or a folder; the old one stays.
    """
    _require_regular(path)
    given, path = path, path.resolve()
    written = _beside(path)
    try:
        with written.open("wb") as file:
            file.write(content)
            if path.exists():
                os.fchmod(file.fileno(), path.stat().st_mode & 0o7777)
            file.flush()
            os.fsync(file.fileno())
        written.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):  # such as of a name that is too long
            written.unlink(missing_ok=True)
        if error.errno:  # a full disk does not say of which file
            error.filename = str(given)
        raise
    flush_folder(path.parent)


def require_writable(path: Path) -> None:
    """Raise ``OSError`` if ``write_durably`` cannot write to ``path``; nothing is left there."""
    _require_regular(path)
    written = _beside(path.resolve())
    try:
        written.open("ab").close()
        written.unlink()
    except OSError as error:
        error.filename = str(path)
        raise


def require_folder(folder: Path) -> None:
    """Make a folder where there is none; raise ``OSError`` if no file can be written to it."""
    folder.mkdir(parents=True, exist_ok=True)
    require_writable(folder / "writable")


def _require_regular(path: Path) -> None:
    """Raise ``OSError`` if there is something at ``path`` that is no regular file."""
    if os.path.islink(os.path.realpath(path)):
        raise OSError(errno.ELOOP, "it is a link that leads back to itself", str(path))
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is no regular file, so it cannot be replaced", str(path))


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def flush_folder(folder: Path) -> None:
    """Return once the names of a folder's files are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
