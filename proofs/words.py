# SPDX-License-Identifier: BSD-2-Clause
"""The words that properties are written in."""

from typing import Any

from amaranth.hdl import Assume, Module, Signal, Value

__all__ = ["constant", "held", "past"]


def past(m: Module, value: Value) -> Signal:
    """``value`` in the cycle before; zero in the first. Not for use under an ``m.If``."""
    register = Signal.like(Value.cast(value), name="past", init=0)
    m.d.sync += register.eq(value)
    return register


def constant(m: Module, value: Value) -> None:
    """Assume that the free input ``value`` keeps one arbitrary value."""
    started = past(m, 1)
    before = past(m, value)
    with m.If(started):
        m.d.comb += Assume(value == before)


def held(m: Module, stream: Any) -> Value:
    """Whether ``stream`` still offers what it offered in the last cycle in vain."""
    payload = Value.cast(stream.payload)
    waited = past(m, stream.valid & ~stream.ready)
    return ~waited | (stream.valid & (payload == past(m, payload)))
