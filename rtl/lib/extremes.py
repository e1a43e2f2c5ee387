# SPDX-License-Identifier: BSD-2-Clause
"""The smaller and the larger of two values, and how many rows a tile has."""

from amaranth.hdl import Mux, Value, ValueLike

__all__ = ["maximum", "minimum", "tile_rows"]


def minimum(one: ValueLike, other: ValueLike) -> Value:
    """The smaller of two values."""
    one, other = Value.cast(one), Value.cast(other)
    return Mux(one < other, one, other)


def maximum(one: ValueLike, other: ValueLike) -> Value:
    """The larger of two values."""
    one, other = Value.cast(one), Value.cast(other)
    return Mux(one > other, one, other)


def tile_rows(rows: ValueLike, start: ValueLike, limit: ValueLike) -> Value:
    """How many of ``rows`` lie from ``start`` on, at most ``limit``; all three are unsigned."""
    rest = Value.cast(rows) - start
    return Mux(rest[-1], 0, minimum(rest, limit))
