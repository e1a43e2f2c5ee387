# SPDX-License-Identifier: BSD-2-Clause
"""Damage to values: of JSON, TOML and YAML files, and of arrays."""

import copy
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

__all__ = ["EDGES", "damaged_array", "damaged_tree"]

#: Values that a check has to think about.
EDGES: tuple[Any, ...] = (
    -1, 0, 1, 2, 1 << 31, 1 << 32, 1 << 63, -(1 << 63) - 1, 10**400, 0.0, -0.0, 0.5, 1.0, -1.5,
    1e-300, 1e300, 1e308, float("nan"), float("inf"), -float("inf"), "", "x", "1", "\0", True,
    False, None, [], {}, [[]], [1, 2, 3], {"x": 1})
_NAMES = ("", "x", "Epochs", "source ", "a.b", "__class__", "ä", "\0")
_REALS = (np.nan, np.inf, -np.inf, 1e308, 1e-320, -1.0, 0.5, 2.0**31, 2.0**63, 1e30, -0.0)
_INTEGERS = (-1, -(1 << 63), 1 << 31, (1 << 63) - 1, 1 << 13, 7)


def damaged_tree(random: Random, value: Any, edges: Sequence[Any] = EDGES,
                 names: Sequence[str] = _NAMES) -> tuple[Any, str]:
    """A copy of nested dictionaries and lists after some damage, and a text about the damage.

    Parameters
    ----------
    random : random.Random
        Decides the damage.
    value : dict or list
        The value to damage.
    edges : sequence
        Values that others become.
    names : sequence of str
        Names that keys become.
    """
    value = list(value) if isinstance(value, tuple) else copy.deepcopy(value)
    places = list(_places(value))
    if not places:
        return random.choice(edges), "replaced all"
    holder, key = random.choice(places)
    kind = random.choice(("value", "value", "value", "delete", "rename", "wrap", "swap", "deep"))
    match kind:
        case "value":
            holder[key] = new = random.choice(edges)
            return value, f"{key!r} became {str(new)[:40]!r}"
        case "delete":
            del holder[key]
        case "rename" if isinstance(holder, dict):
            holder[random.choice(names)] = holder.pop(key)
        case "swap":
            other, there = random.choice(places)
            if other is not holder[key] and holder is not other[there]:
                holder[key], other[there] = copy.deepcopy((other[there], holder[key]))
        case "deep":
            for _ in range(random.choice((2, 300))):
                holder[key] = [holder[key]]
        case _:
            holder[key] = [holder[key]]
    return value, f"{key!r}: {kind}"


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """(holder, key) of everything in it."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        yield value, key
        if isinstance(inner, (dict, list)):
            yield from _places(inner)


def damaged_array(random: Random, values: Any) -> tuple[Any, str]:
    """An array, sparse array or something else made of one, and a text about the change."""
    if scipy.sparse.issparse(values):
        values = values.toarray()
    kinds = ("element", "element", "element", "type", "shape", "rows", "form", "none")
    match random.choice(kinds if values.ndim else ("type", "none")):
        case "element" if values.size and values.dtype.kind in "iuf":
            edge = random.choice(_INTEGERS if values.dtype.kind in "iu" else _REALS)
            values = values.copy()
            with np.errstate(over="ignore"):
                values.flat[random.randrange(values.size)] = np.array(edge).astype(values.dtype)
            return values, f"an element became {edge}"
        case "type":
            new = random.choice(("f2", "f4", "f8", "i1", "i8", "u8", ">i4", ">f8", "?", "c16", "U9",
                                 "S9", "O", "M8[s]", "V8"))
            with np.errstate(all="ignore"):
                return _cast(values, new), f"type {new}"
        case "shape":
            shape = random.choice(((-1,), (1, -1), (-1, 1), (*values.shape, 1), values.shape[::-1]))
            return values.reshape(shape), f"shape {shape}"
        case "rows":
            rows = random.choice((0, len(values) - 1, len(values) + 1))
            changed = np.resize(values, (rows, *values.shape[1:]))
            return changed, f"{rows} rows"
        case "form":
            form = random.choice((list, np.asfortranarray, lambda it: it[::-1][::-1],
                                  np.ma.masked_array, lambda it: it.astype("O"), _sparse,
                                  _mask_one, lambda it: [*_mask_one(it)], _misplace_one))
            return form(values), f"as {getattr(form, '__name__', 'view')}"
    return random.choice((None, 3, "x", [], {}, np.zeros(0), np.array(1), np.nan)), "something else"


def _cast(values: npt.NDArray[Any], new: str) -> npt.NDArray[Any]:
    try:
        return values.astype(new)
    except (TypeError, ValueError):
        return values.astype("O")


def _mask_one(values: npt.NDArray[Any]) -> Any:
    found = np.ma.masked_array(values, mask=np.zeros(values.shape, dtype=bool))
    found.mask.flat[values.size // 2:values.size // 2 + 1] = True
    return found


def _misplace_one(values: npt.NDArray[Any]) -> Any:
    """A CSR array with the index of no column."""
    matrix = _sparse(values)
    if scipy.sparse.issparse(matrix) and matrix.nnz:
        matrix = matrix.tocsr()
        matrix.indices[matrix.nnz // 2] = matrix.shape[1] if matrix.nnz % 2 else -1
    return matrix


def _sparse(values: npt.NDArray[Any]) -> Any:
    return scipy.sparse.coo_array(values) if values.ndim == 2 and values.dtype.kind in "iuf" \
        else values
