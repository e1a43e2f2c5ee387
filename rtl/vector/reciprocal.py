"""Weighted reciprocals, one per cycle."""

from amaranth.hdl import C, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.vector.pipeline import delayed

__all__ = ["Reciprocal"]

#: Bits of a quotient.
_BITS = 18
#: Bits found in a stage.
_RADIX_BITS = 2


class Reciprocal(wiring.Component):
    """Computes ``floor(weight * 2**(width + 1) / divisor)`` by restoring division; it never stalls.

    Parameters
    ----------
    width : int
        Bits of the divisor, 18 or more.

    Members
    -------
    weight : In(16)
        Valid with ``divisor``.
    divisor : In(width)
        At least ``2**(width - 1)``.
    o : Out(18)
        The quotient for the ``divisor`` of ``LATENCY`` cycles ago.
    """

    #: Bits of a quotient.
    _BITS = 18
    #: Cycles from ``divisor`` to ``o``.
    LATENCY = _BITS // _RADIX_BITS

    def __init__(self, width):
        self._width = width
        super().__init__({"weight": In(16), "divisor": In(width), "o": Out(_BITS)})

    def elaborate(self, platform):
        m = Module()
        divisor = self.divisor
        # The dividend's upper bits; all that follow are zero.
        remainder = Cat(C(0, self._width + 1 - _BITS), self.weight, C(0, 1))
        quotient = C(0, 0)
        for _ in range(self.LATENCY):
            for _ in range(_RADIX_BITS):
                doubled, fits, rest = Signal(self._width + 1), Signal(), Signal.like(divisor)
                m.d.comb += [
                    doubled.eq(remainder << 1),
                    fits.eq(doubled >= divisor),
                    rest.eq(Mux(fits, doubled - divisor, doubled)),
                ]
                remainder, quotient = rest, Cat(fits, quotient)
            divisor, remainder, quotient = (
                delayed(m, value, 1) for value in (divisor, remainder, quotient))
        m.d.comb += self.o.eq(quotient)
        return m
