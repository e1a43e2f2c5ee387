# SPDX-License-Identifier: BSD-2-Clause
"""Adders that take the logic in front of them in."""

from amaranth.hdl import C, Cat, Value

__all__ = ["sum_of"]


def sum_of(register: Value, selected: Value, width: int) -> Value:
    """``register + selected`` of signed values, modulo ``2**width``.

    Written as a difference: the LUT of a carry chain's bit can hold the logic of one of the
    operands, and while Yosys goes by names which one that is of a sum, of a difference it is the
    subtrahend's.
    """
    minuend, subtrahend = (
        Cat(value, value[-1].replicate(width - len(value))) for value in (register, ~selected))
    return (Cat(C(0, 1), minuend) - Cat(C(1, 1), subtrahend))[1:width + 1].as_signed()
