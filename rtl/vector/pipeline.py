# SPDX-License-Identifier: BSD-2-Clause
"""Small pieces that the pipelines of the vector unit share."""

from collections.abc import Callable, Iterable
from functools import reduce
from operator import or_

from amaranth.hdl import Module, Mux, Signal, Value, ValueLike

__all__ = ["bit_length", "delay_by", "magnitude", "popcount", "tree", "tree_latency"]


def delay_by(m: Module, value: ValueLike, cycles: int) -> Value:
    """``value`` after ``cycles`` registers (of module ``m``, domain ``sync``)."""
    for _ in range(cycles):
        register = Signal.like(value)
        m.d.sync += register.eq(value)
        value = register
    return value


def magnitude(values: Iterable[Value]) -> Value:
    """OR over signed ``values`` of ``x XOR sign(x)``, without the sign bit; see the reference."""
    return reduce(or_, (value[:-1] ^ value[-1].replicate(len(value) - 1)
                        for value in map(Value.cast, values)))


def bit_length(value: Value) -> Value:
    """Number of the highest bit set in ``value``, counted from 1; 0 if none is.

    The value is halved again and again, so that the logic is as deep as its logarithm.
    """
    if len(value) == 1:
        return value
    half = 1 << (len(value) - 1).bit_length() - 1
    low, high = value[:half], value[half:]
    return Mux(high.any(), half + bit_length(high), bit_length(low))


def popcount(bits: Value) -> Value:
    """Number of ones among ``bits``, added up as a balanced tree."""
    if len(bits) == 1:
        return bits
    half = len(bits) // 2
    return popcount(bits[:half]) + popcount(bits[half:])


def tree(m: Module, values: Iterable[Value], combine: Callable[[Value, Value], Value]) -> Value:
    """``values`` (a power of two of them) combined pairwise, with a register every two levels.

    Follows its inputs by ``tree_latency(len(values))`` cycles.
    """
    values = list(values)
    while len(values) > 1:
        for _ in range(min(2, len(values).bit_length() - 1)):
            values = [combine(*pair) for pair in zip(values[::2], values[1::2], strict=True)]
        values = [delay_by(m, value, 1) for value in values]
    return values[0]


def tree_latency(count: int) -> int:
    """Cycles ``tree`` takes for ``count`` values."""
    return count.bit_length() // 2
