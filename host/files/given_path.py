# SPDX-License-Identifier: BSD-2-Clause
"""Paths that Python code gives: checked before anything is done with them."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from hypercast.errors import InputError

__all__ = ["as_output_errors", "given_folder", "given_path"]


def given_path(value: object, name: str) -> Path:
    """A path that was given as ``name``.

    Raises
    ------
    InputError
        If it is neither a text nor a ``pathlib.Path``, or none that a file can have.
    """
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(path, str):
        text = repr(value) if isinstance(value, (int, float, bytes, type(None))) else \
            f"a {type(value).__name__}"
        raise InputError(f"{name} must be a path, not {text}; give a str or a pathlib.Path")
    if not path or "\0" in path:
        raise InputError(f"{name} must be a path, not {path!r}; no file has this name")
    return Path(path)


def given_folder(value: object, name: str) -> Path:
    """The path of a folder, which may not be there yet.

    Raises
    ------
    InputError
        As ``given_path`` does; if it is, or is below, what is no folder.
    """
    path = given_path(value, name)
    for place in (path, *path.parents):
        with contextlib.suppress(OSError):  # which whoever makes the folder meets again
            if place.exists() and not place.is_dir():
                raise InputError(f"{name} is {path}, but {place} is no folder; give another path")
    return path


@contextlib.contextmanager
def as_output_errors(path: Path) -> Iterator[None]:
    """A context in which a file that cannot be written is an ``InputError``."""
    try:
        if not path.parent.is_dir():
            raise InputError(f"{path} cannot be written, for there is no folder {path.parent}; "
                             f"make it, or give another")
        yield
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror or error}); check the path, "
                         f"your permissions and the space there") from error
