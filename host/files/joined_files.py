# SPDX-License-Identifier: BSD-2-Clause
"""Files that are written to one folder."""

from collections.abc import Iterable
from typing import TypeVar

from hypercast.errors import InputError

__all__ = ["joined_files"]

_Content = TypeVar("_Content", str, bytes, str | bytes)


def joined_files(files: Iterable[tuple[str, _Content]]) -> dict[str, _Content]:
    """The files by name.

    Raises
    ------
    InputError
        If two have the same name, be it in a file system that takes small and capital letters for
        the same.
    """
    found: dict[str, _Content] = {}
    names: dict[str, str] = {}
    for name, content in files:
        if (other := names.setdefault(name.casefold(), name)) != name or name in found:
            raise InputError(f"two files would be called {name} and {other}; take another name")
        found[name] = content
    return found
