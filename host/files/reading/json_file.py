# SPDX-License-Identifier: BSD-2-Clause
"""JSON files, and what Python's parser would take without a word."""

import json
from collections.abc import Sequence
from typing import Any, NoReturn

from hypercast.errors import InputError
from hypercast.host.files.reading.regular_file import FileError, Place, read_text

__all__ = ["parse_json", "read_json"]


def parse_json(text: str, place: Place) -> Any:
    """The value of a JSON text; every key is there once, and every number is finite.

    Parameters
    ----------
    text : str
        The text.
    place : path-like
        Where it is, for messages.

    Raises
    ------
    FileError
        If it is damaged, or one of these does not hold.
    """
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise FileError(f"{place}, line {error.lineno}, column {error.colno}: {error.msg}; correct "
                        f"the file") from error
    except RecursionError as error:
        raise FileError(f"{place} has too many brackets in each other; correct the file"
                        ) from error
    except ValueError as error:
        raise FileError(f"{place}: {error}; correct the file") from error


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen = set()
        for key, _ in pairs:
            if key in seen:
                raise InputError(f"the key {key[:40]!r} is there twice")
            seen.add(key)
    return found


def _refuse(constant: str) -> NoReturn:
    raise InputError(f"{constant} is no number of JSON")


def read_json(path: Place) -> Any:
    """The value of a JSON file, see ``parse_json``."""
    return parse_json(read_text(path), path)
