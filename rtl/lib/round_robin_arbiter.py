# SPDX-License-Identifier: BSD-2-Clause
"""Round-robin arbiter, and the multiplexer that goes with its one-hot grants."""

from collections.abc import Iterable
from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Module, Mux, Signal, Value, ValueLike
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.errors import InputError

__all__ = ["RoundRobinArbiter", "one_hot_mux"]

#: Bits from which on values are wide.
_WIDE = 128


class RoundRobinArbiter(wiring.Component):
    """Grants one of several requests; the one granted last comes last in the next cycle.

    A request that stays high is granted after at most ``count - 1`` other grants.

    Parameters
    ----------
    count : int
        Number of requesters, at least 1.

    Members
    -------
    enable : In(1)
        High if a grant may be given in this cycle.
    requests : In(count)
        One bit per requester.
    grants : Out(count)
        One-hot while ``enable`` is high and there is a request, else zero. Combinational.
    """

    def __init__(self, count: int) -> None:
        if count < 1:
            raise InputError(f"count must be at least 1, not {count}")
        super().__init__({"enable": In(1), "requests": In(count), "grants": Out(count)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        count = len(self.requests)
        # The requesters after the one granted last, who have their turn before all others.
        later = Signal.like(self.requests)

        def precedes(one: int, other: int) -> Value:
            return later[one] | ~later[other] if one < other else later[one] & ~later[other]

        for index in range(count):
            others = [one for one in range(count) if one != index]
            m.d.comb += self.grants[index].eq(self.enable & self.requests[index] & ~Cat(
                self.requests[one] & precedes(one, index) for one in others).any())
        with m.If(self.grants.any()):
            m.d.sync += later.eq(Cat(
                self.grants[:index].any() for index in range(count)))
        return m


def one_hot_mux(select: Value, values: Iterable[ValueLike]) -> Value:
    """The one of ``values`` whose bit of ``select`` is high; a meaningless one if none is.

    Wide values are chosen by number, which takes fewer LUTs of 6 inputs; narrow ones, as chips for
    small FPGAs have them, by bits, each of which drives less.
    """
    values = list(values)
    if len(values[0]) < _WIDE:
        return reduce(or_, (Mux(bit, value, 0) for bit, value in zip(select, values, strict=True)))
    return _mux_by_number(select, values)


def _mux_by_number(select: Value, values: list[ValueLike], place: int = 0) -> Value:
    """Halve ``values`` by bit ``place`` of the selected one's number, and so on."""
    if len(values) == 1:
        return values[0]
    number = Cat(bit for index, bit in enumerate(select) if index >> place & 1).any()
    values = values + values[-1:] * (len(values) % 2)
    return _mux_by_number(select, [
        Mux(number, odd, even) for even, odd in zip(values[::2], values[1::2], strict=True)],
        place + 1)
