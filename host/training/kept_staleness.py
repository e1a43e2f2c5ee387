# SPDX-License-Identifier: BSD-2-Clause
"""The staleness of a training, as its checkpoints name it; so a run goes on as it was begun."""

from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any

from hypercast.errors import InputError, require
from hypercast.host.cluster.assignment import GRAPH, LAYERS, Assignment
from hypercast.reference.stale_rows import SMOOTHING_ONE

__all__ = ["assignment_of", "staleness_of"]

#: The most parts, chunks and steps.
_MOST = 1 << 20


def staleness_of(assignment: Assignment, steps: Sequence[int]) -> dict[str, Any]:
    """Fields of an assignment that decide the bits; empty if nothing is older than on one board.

    Parameters
    ----------
    assignment : Assignment
        How boards share the training. With stale halos, its parts are given.
    steps : sequence of int
        By how many steps the weights of each layer are older; empty if none are.
    """
    if assignment.chunks:
        return {"chunks": assignment.chunks}
    if steps:
        return {"steps": [*steps]}
    if assignment.smoothing is None:
        return {}
    return {"parts": [*assignment.parts], "smoothing": assignment.kept_smoothing}


def assignment_of(staleness: Mapping[str, Any]) -> Assignment:
    """The ``Assignment`` that has such a staleness; all else in it is open.

    Parameters
    ----------
    staleness : dict
        As ``staleness_of`` gives it, or a file claims.

    Raises
    ------
    InputError
        If nothing has such a staleness.
    """
    match staleness:
        case {"chunks": chunks, **more} if not more and _whole(chunks, 1):
            return Assignment(scheme=LAYERS, chunks=chunks)
        case {"steps": [*steps], **more} if not more and all(_whole(one, 0) for one in steps):
            if {*steps} == {1}:
                return Assignment(scheme=LAYERS, versions=2)
            counts = [len([*same]) for _, same in groupby(steps)]
            ends = [sum(counts[:number]) for number in range(len(counts) + 1)]
            stages = [one for one, _ in groupby(steps)]
            require(stages == [*range(len(stages))][::-1] and len(stages) > 1,
                    f"weights cannot be {steps} steps older")
            return Assignment(scheme=LAYERS, stages=len(stages), runs=tuple(
                range(begin + 1, end + 1) for begin, end in pairwise(ends)))
        case {"parts": [*parts], "smoothing": smoothing, **more} if not more and parts and all(
                isinstance(part, float) and 0 <= part < float("inf") for part in parts) \
                and _whole(smoothing, 0) and smoothing < SMOOTHING_ONE:
            return Assignment(scheme=GRAPH, parts=tuple(parts),
                              smoothing=smoothing / SMOOTHING_ONE)
        case {**nothing} if not nothing:
            return Assignment()
    raise InputError(f"staleness is {staleness!r}, which no training has")


def _whole(value: object, least: int) -> bool:
    return type(value) is int and least <= value <= _MOST
