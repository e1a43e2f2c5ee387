# SPDX-License-Identifier: BSD-2-Clause
"""Whole numbers as files and options spell them: one spelling each, and nothing else."""

import re

import numpy as np
import numpy.typing as npt

from hypercast.errors import InputError

__all__ = ["whole_number", "whole_numbers"]

_SPELLING = re.compile(r"0|-?[1-9][0-9]{0,18}", re.ASCII)
_RANGE = range(-(1 << 63), 1 << 63)


def whole_number(text: str) -> int:
    """The number that a text spells: no sign but ``-``, no zeros in front, no point, no ``_``.

    Raises
    ------
    InputError
        If it spells none, or one of more than 64 bits.
    """
    if not _SPELLING.fullmatch(text) or int(text) not in _RANGE:
        raise InputError(f"{text[:40]!r} is no whole number")
    return int(text)


def whole_numbers(values: object) -> npt.NDArray[np.int64]:
    """(N,) int64 array of a list that a JSON file or a pickle has.

    Raises
    ------
    InputError
        If it is no list, or holds anything but whole numbers; 1.0 and true are none.
    """
    if not isinstance(values, list):
        raise InputError(f"{str(values)[:40]} is no list of whole numbers")
    for value in values:
        if type(value) is not int or value not in _RANGE:
            raise InputError(f"{str(value)[:40]} is no whole number")
    return np.array(values, dtype=np.int64)
