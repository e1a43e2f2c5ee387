# SPDX-License-Identifier: BSD-2-Clause
"""Word-for-word comparison of two devices' tensors."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from hypercast.errors import InputError
from hypercast.reference.array_types import IntArray

__all__ = ["Comparison", "compare"]


@dataclass
class Comparison:
    """How many words two devices agree on.

    A word is ``lanes`` elements of one row, as it lies in memory.

    Attributes
    ----------
    equal, words : int
        Words that are equal, and all words compared.
    first_difference : str
        Where the first difference is, and both values; empty if there is none.
    """

    equal: int = 0
    words: int = 0
    first_difference: str = ""

    def add(self, other: Self) -> None:
        """Take in another comparison."""
        self.equal += other.equal
        self.words += other.words
        self.first_difference = self.first_difference or other.first_difference

    def __str__(self) -> str:
        text = f"RTL = reference, {self.equal:,} of {self.words:,} words"
        if self.equal != self.words:
            text = text.replace("=", "≠", 1) + f"; first difference: {self.first_difference}"
        return text


def compare(expected: Mapping[str, IntArray], found: Mapping[str, IntArray],
            lanes: int) -> Comparison:
    """Compare two ``TrainingDevice.snapshot``s.

    Parameters
    ----------
    expected, found : dict
        Name to integer matrix.
    lanes : int
        Elements per word.

    Raises
    ------
    InputError
        If the snapshots do not hold the same tensors.
    """
    if expected.keys() != found.keys():
        raise InputError(f"only one device has {', '.join(sorted(expected.keys() ^ found.keys()))}")
    result = Comparison()
    for name, reference in expected.items():
        if reference.shape != found[name].shape:
            raise InputError(f"{name} has shape {reference.shape} in the reference, "
                             f"{found[name].shape} on the device")
        different = reference != found[name]
        starts = np.arange(0, reference.shape[1], lanes)
        words = np.logical_or.reduceat(different, starts, axis=1)
        where = np.argwhere(different)
        message = ""
        if len(where):
            row, column = where[0]
            message = (f"{name}[{row}, {column}] is {found[name][row, column]}, "
                       f"expected {reference[row, column]}")
        result.add(Comparison(int(words.size - words.sum()), words.size, message))
    return result
