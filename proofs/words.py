# SPDX-License-Identifier: BSD-2-Clause
"""The words that properties are written in."""

from typing import NamedTuple

from amaranth.hdl import Assume, Module, Signal, Value, ValueLike
from amaranth.lib import stream

__all__ = ["Handshake", "constant", "is_held", "past"]


class Handshake(NamedTuple):
    """Signals that keep the rules of a stream, of a port that is none.

    Attributes
    ----------
    valid, ready, payload : Value
        As of a stream.
    """

    valid: Value
    ready: Value
    payload: Value


def past(m: Module, value: ValueLike) -> Signal:
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


def is_held(m: Module, offer: stream.Interface | Handshake) -> Value:
    """Whether a stream still offers what it offered in the last cycle in vain."""
    payload = Value.cast(offer.payload)
    waited = past(m, offer.valid & ~offer.ready)
    return ~waited | (offer.valid & (payload == past(m, payload)))
