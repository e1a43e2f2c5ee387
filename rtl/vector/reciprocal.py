"""Reciprocals, one bit per cycle."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Reciprocal"]


class Reciprocal(wiring.Component):
    """Computes ``floor(2**42 / divisor)`` by restoring division.

    Members
    -------
    start : In(1)
        High for a cycle to begin; only while not ``busy``.
    divisor : In(26)
        At least ``2**25``; valid with ``start``.
    busy : Out(1)
        High for ``LATENCY`` cycles after ``start``.
    o : Out(18)
        The quotient, while not ``busy``.
    """

    #: Cycles of ``busy``: bits of the quotient.
    LATENCY = 18

    def __init__(self):
        super().__init__({
            "start": In(1),
            "divisor": In(26),
            "busy": Out(1),
            "o": Out(18),
        })

    def elaborate(self, platform):
        m = Module()
        divisor = Signal.like(self.divisor)
        remainder = Signal.like(self.divisor)
        left = Signal(range(self.LATENCY + 1))
        doubled, fits = Signal(27), Signal()
        m.d.comb += [
            self.busy.eq(left != 0),
            doubled.eq(remainder << 1),
            fits.eq(doubled >= divisor),
        ]
        with m.If(self.busy):
            m.d.sync += [
                remainder.eq(Mux(fits, doubled - divisor, doubled)),
                self.o.eq(Cat(fits, self.o)),
                left.eq(left - 1),
            ]
        with m.If(self.start):
            # The dividend's upper bits; all that follow are zero.
            m.d.sync += [
                divisor.eq(self.divisor),
                remainder.eq(1 << 42 - self.LATENCY),
                left.eq(self.LATENCY),
            ]
        return m
