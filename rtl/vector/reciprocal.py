# SPDX-License-Identifier: BSD-2-Clause
"""Weighted reciprocals."""

from amaranth.hdl import C, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.errors import InputError
from hypercast.rtl.isa import RECORD_WIDTH
from hypercast.rtl.limits import QUOTIENT_CYCLES
from hypercast.rtl.vector.pipeline import delay_by

__all__ = ["Reciprocal"]

#: Bits found in a cycle.
_RADIX_BITS = 2
#: Bits of a quotient.
_BITS = _RADIX_BITS * QUOTIENT_CYCLES


class Reciprocal(wiring.Component):
    """Computes ``floor(weight * 2**(width + 1) / divisor)`` by non-restoring division; it never
    stalls.

    A stage works on a quotient for ``interval`` cycles: there is one for every ``interval`` of the
    cycles that a quotient takes.

    Parameters
    ----------
    width : int
        Bits of the divisor, 18 or more.
    interval : int
        Cycles from a divisor to the next, at least: 1, 3 or 9.

    Members
    -------
    enter : In(1)
        A divisor enters; if ``interval`` is 1, one enters in every cycle.
    weight : In(RECORD_WIDTH)
        Valid with ``divisor``.
    divisor : In(width)
        At least ``2**(width - 1)``; valid with ``enter``.
    o : Out(18)
        The quotient for the ``divisor`` of ``LATENCY`` cycles ago.

    Raises
    ------
    InputError
        If ``interval`` is none of these numbers.
    """

    #: Cycles from ``divisor`` to ``o``.
    LATENCY = QUOTIENT_CYCLES

    def __init__(self, width: int, interval: int = 1) -> None:
        if interval < 1 or self.LATENCY % interval:
            raise InputError(f"interval must divide {self.LATENCY}, but is {interval}")
        self._width = width
        self._interval = interval
        super().__init__({
            "enter": In(1), "weight": In(RECORD_WIDTH), "divisor": In(width), "o": Out(_BITS)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # The dividend's upper bits; all that follow are zero.
        remainder = Cat(C(0, self._width + 1 - _BITS), self.weight, C(0, 2))
        state = (self.divisor, remainder, C(0, 0))
        entering = self.enter
        for stage in range(1, self.LATENCY // self._interval + 1):
            held = (Signal(self._width), Signal(self._width + 1),
                    Signal(stage * self._interval * _RADIX_BITS))
            if self._interval > 1:
                state = tuple(Mux(entering, before, own)
                              for before, own in zip(state, held, strict=True))
                entering = delay_by(m, entering, self._interval)
            divisor, remainder, quotient = state
            for _ in range(_RADIX_BITS):
                # The divisor is added to twice a negative remainder, and subtracted from twice any
                # other: its inverse and a carry are added.
                subtract = ~remainder[-1]
                following = Signal(self._width + 1)
                m.d.comb += following.eq(
                    Cat(subtract, remainder) + (divisor ^ subtract.replicate(self._width + 1)))
                remainder, quotient = following, Cat(~following[-1], quotient)
            m.d.sync += [register.eq(value) for register, value in zip(
                held, (divisor, remainder, quotient), strict=True)]
            state = held
        m.d.comb += self.o.eq(state[-1])
        return m
