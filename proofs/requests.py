# SPDX-License-Identifier: BSD-2-Clause
"""What proofs of requests and grants share."""

from collections.abc import Sequence

from amaranth.hdl import Assert, Assume, Module, Signal, Value, ValueLike

from hypercast.proofs.words import past

__all__ = ["assert_one_hot", "in_effect", "is_top", "waits"]


def waits(m: Module, request: Value, grant: Value, most: int, events: ValueLike = 1) -> Signal:
    """Assert that a request sees at most ``most`` of ``events`` before its grant; their count."""
    count = Signal(range(most + 2), name="passed")
    with m.If(~request | grant):
        m.d.sync += count.eq(0)
    with m.Elif(events):
        m.d.sync += count.eq(count + 1)
    m.d.comb += Assert(~request | grant | (count + events <= most))
    return count


def assert_one_hot(m: Module, grants: Value, requests: Value) -> None:
    """Assert that there is at most one grant, and none without a request."""
    m.d.comb += [Assert((grants & (grants - 1)) == 0), Assert((grants & ~requests) == 0)]


def is_top(priority: Value) -> Value:
    """Whether a priority, a thermometer, is the highest there is."""
    return priority[-1]


def in_effect(m: Module, priorities: Sequence[Value], favoured: Value) -> list[Value]:
    """Assume that priorities are thermometers, and none of the highest favoured.

    Returns the priorities that count in this cycle.
    """
    for index, priority in enumerate(priorities):
        m.d.comb += Assume((priority & (priority + 1)) == 0)
        m.d.comb += Assume(~(is_top(priority) & favoured[index]))
    return [past(m, priority) for priority in priorities]
