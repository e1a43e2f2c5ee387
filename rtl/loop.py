# SPDX-License-Identifier: BSD-2-Clause
"""Loops over strips of rows: a program's length does not depend on the number of strips.

``LOOP`` names a number of strips. The instructions of its body follow, each in two rows: the first
strip's instruction, and a row of strides, what is added to each of its fields from strip to strip.
An instruction may lag some strips behind the others of its body, as in a software pipeline (Lam,
Software Pipelining, 1988): where it would work on a strip before the first or beyond the last one,
it is passed over. So a loop needs no instructions before or after it. Bodies have no LOOP and no
HALT.

This module imports no Amaranth.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hypercast.errors import InputError
from hypercast.rtl.isa import (
    HEADER_WIDTH,
    INSTRUCTION_WIDTH,
    LAG_WIDTH,
    OPCODE_MASK,
    OPERANDS,
    Opcode,
    decode,
)

__all__ = ["Unrolled", "encode_strides", "unroll"]

_MASK = (1 << INSTRUCTION_WIDTH) - 1


class Unrolled(NamedTuple):
    """An instruction of a program as it is issued.

    Attributes
    ----------
    row : int
        Row of the program that it is in.
    word : int
        The instruction, of its strip.
    first : bool
        Whether it is outside of loops, or on a loop's first strip: only there ``open`` counts.
    looped : bool
        Whether it is of a loop.
    """

    row: int
    word: int
    first: bool = True
    looped: bool = False


def encode_strides(opcode: Opcode, *, lag: int = 0, **strides: int) -> int:
    """Encode a row of strides, as an integer of ``INSTRUCTION_WIDTH`` bits.

    Parameters
    ----------
    opcode : Opcode
        The opcode of the instruction before it, which has the same fields.
    lag : int
        Strips that the instruction lags behind.
    **strides
        What is added to fields from strip to strip; 0 if not named.

    Raises
    ------
    InputError
        If a field is unknown to the opcode or a value does not fit.
    """
    if not 0 <= lag < 1 << LAG_WIDTH:
        raise InputError(f"lag must be 0 to {(1 << LAG_WIDTH) - 1}, not {lag}")
    word, offset = lag, HEADER_WIDTH
    for name, width in OPERANDS[opcode]:
        stride, most = strides.pop(name, 0), (1 << abs(width)) - 1
        if not 0 <= stride <= most:
            raise InputError(
                f"{opcode.name} field {name} must have a stride of 0 to {most}, not {stride}")
        word |= stride << offset
        offset += abs(width)
    if strides:
        raise InputError(f"{opcode.name} has no field {', '.join(strides)}")
    return word


def unroll(program: Sequence[int], first: int = 0, last: int | None = None) -> Iterator[Unrolled]:
    """Instructions in the order in which they are issued.

    Parameters
    ----------
    program : sequence of int
        Encoded rows.
    first, last : int
        The rows before ``last``, from ``first`` on; all of them by default.
    """
    row, end = first, len(program) if last is None else last
    while row < end:
        if program[row] & OPCODE_MASK != Opcode.LOOP:
            yield Unrolled(row, program[row])
            row += 1
            continue
        loop = decode(program[row])
        body = range(row + 1, row + 1 + 2 * loop["length"], 2)
        for turn in range(loop["strips"] + loop["lags"]):
            for place in body:
                strides = program[place + 1]
                strip = turn - (strides & (1 << LAG_WIDTH) - 1)
                if 0 <= strip < loop["strips"]:
                    word = program[place] + strip * (strides >> HEADER_WIDTH << HEADER_WIDTH)
                    yield Unrolled(place, word & _MASK, strip == 0, looped=True)
        row = body.stop
