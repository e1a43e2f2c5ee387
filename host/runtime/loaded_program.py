# SPDX-License-Identifier: BSD-2-Clause
"""The contents of a chip's program memory."""

from collections.abc import Iterable, Sequence

from hypercast.errors import InputError
from hypercast.rtl.isa import INSTRUCTION_WORDS, OPCODE_MASK, Opcode, decode

__all__ = ["LoadedProgram"]

#: Addresses that a row takes behind the window.
_ROW_WORDS = 16


class LoadedProgram:
    """The contents of a program memory, as far as they were written."""

    def __init__(self) -> None:
        self._words: dict[int, int] = {}

    def clear(self) -> None:
        """Take all that was written for gone."""
        self._words.clear()

    def write(self, address: int, values: Iterable[int]) -> None:
        """Take in 32-bit values, written to consecutive addresses."""
        self._words.update(enumerate(values, address))

    def difference(self, address: int, values: Sequence[int]) -> tuple[int, list[int]]:
        """The words to write, and the first address, so that consecutive addresses have values."""
        differing = [index for index, value in enumerate(values)
                     if self._words.get(address + index) != value]
        first, last = (differing[0], differing[-1] + 1) if differing else (0, 0)
        return address + first, list(values[first:last])

    def steps(self, entry: int) -> int:
        """Training steps that the chip counts in one run from row ``entry`` to HALT: 0 or 1.

        Raises
        ------
        InputError
            If rows were not written, from ``entry`` to HALT.
        """
        row = entry
        while (control := self._words.get(row * _ROW_WORDS)) is not None:
            if control & OPCODE_MASK == Opcode.HALT:
                return decode(self._instruction(row))["step"]
            row += 1
            if control & OPCODE_MASK == Opcode.LOOP:
                row += 2 * decode(self._instruction(row - 1))["length"]
        raise InputError(f"there is no program at row {entry}: row {row} was not loaded; load the "
                         f"job first, and start at one of its starts")

    def _instruction(self, row: int) -> int:
        return sum(self._words.get(row * _ROW_WORDS + index, 0) << 32 * index
                   for index in range(INSTRUCTION_WORDS))
