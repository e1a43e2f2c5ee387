# SPDX-License-Identifier: BSD-2-Clause
"""Nested values as JSON has them: what they consist of, and where two of them differ."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["differences", "leaves", "plain"]


def plain(value: object) -> Any:
    """Nested values in the form that JSON gives them: tuples become lists, say."""
    return json.loads(json.dumps(value))


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, object]]:
    """(path, value) of everything in nested dictionaries and lists."""
    items = value.items() if isinstance(value, dict) else enumerate(value, 1)
    for key, inner in items:
        path = f"{name}.{key}" if name else str(key)
        if isinstance(inner, (dict, list)):
            yield from leaves(inner, path)
        else:
            yield path, inner


def differences(there: Mapping[str, object], here: Mapping[str, object],
                other: str = "there", own: str = "here") -> list[str]:
    """Differences of two dictionaries, as text; ``other`` and ``own`` say where each is."""
    return [f"{name} is {there.get(name, 'missing')} {other}, {here.get(name, 'missing')} {own}"
            for name in {**there, **here} if there.get(name) != here.get(name)]
