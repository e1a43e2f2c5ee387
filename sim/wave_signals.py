# SPDX-License-Identifier: BSD-2-Clause
"""Values of signals, from samples of a chip's areas."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Changes", "Places", "changes", "columns"]

#: A signal's runs, see ``chip_header.signal_places``.
Places: TypeAlias = Sequence[Sequence[int]]
#: Values of pieces in every cycle, by offset.
Columns: TypeAlias = Mapping[int, npt.NDArray[Any]]


class Changes(NamedTuple):
    """When a signal changes, and to what: integers, of any size if it has more than 64 bits."""

    rows: npt.NDArray[np.intp]
    values: npt.NDArray[Any]


def columns(samples: npt.NDArray[np.uint8], places: Sequence[Places], elements: int,
            member: int) -> dict[int, npt.NDArray[Any]]:
    """Values of all pieces that signals are made of, of one core.

    Parameters
    ----------
    samples : (cycles, bytes) numpy.ndarray
        Samples of the core's group.
    places : sequence
        The signals' runs.
    elements : int
        Elements of a vector.
    member : int
        The core's element.
    """
    found: dict[int, npt.NDArray[Any]] = {}
    for runs in places:
        for offset, bits, *_ in runs:
            if offset >= 0 and offset not in found:
                size = bits // 8
                first = offset * elements + member * size
                found[offset] = np.ascontiguousarray(
                    samples[:, first:first + size]).view(f"<u{size}")[:, 0].astype(np.uint64)
    return found


def _run(run: Sequence[int], pieces: Columns, count: int) -> npt.NDArray[np.uint64]:
    """Values of a run: at most 64 bits, or one bit."""
    offset, _, first, width, repeated = run
    if offset < 0:
        return np.full(count, first, dtype=np.uint64)
    mask = np.uint64(1 if repeated else (1 << width) - 1)
    return np.asarray(pieces[offset] >> np.uint64(first) & mask)


def changes(places: Places, pieces: Columns, count: int) -> Changes:
    """When a signal changes in ``count`` samples; the first one counts as a change."""
    parts = [_run(run, pieces, count) if run[0] >= 0 or run[3] <= 64
             else np.zeros(count, dtype=np.uint64) for run in places]
    changed = np.zeros(count, dtype=bool)
    changed[:1] = True
    for part in parts:
        changed[1:] |= part[1:] != part[:-1]
    rows = np.flatnonzero(changed)
    wide = sum(run[3] for run in places) > 64
    values: npt.NDArray[Any] = np.zeros(len(rows), dtype=object if wide else np.uint64)
    position = 0
    for run, part in zip(places, parts, strict=True):
        offset, _, first, width, repeated = run
        here: npt.NDArray[Any] = part[rows].astype(object) if wide else part[rows]
        if wide:
            if offset < 0:
                here[:] = first
            if repeated:
                here = here * ((1 << width) - 1)
            values = values + here * (1 << position)
        else:
            if repeated:
                here = here * np.uint64((1 << width) - 1)
            values |= here << np.uint64(position)
        position += width
    return Changes(rows, values)
