# SPDX-License-Identifier: BSD-2-Clause
"""Adam's second moment, one per cycle."""

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.isa import FACTOR_WIDTH, SHIFT_WIDTH
from hypercast.rtl.vector.pipeline import bit_length, delay_by

__all__ = ["SecondMoment", "SecondMomentUnit"]

#: Leading bits of a gradient that are squared.
_LEADING = 18
#: A gradient of length ``_WHOLE`` has a square with exponent 0.
_WHOLE = 7


class SecondMoment(data.Struct):
    """Adam's second moment of a weight, as stored: ``mantissa * 4**exponent``."""

    mantissa: 26
    exponent: 5
    zero: 1


class SecondMomentUnit(wiring.Component):
    """Computes ``adam.next_second_moment``; a pipeline that never stalls.

    Members
    -------
    decay : In(FACTOR_WIDTH), decay_shift : In(SHIFT_WIDTH)
        ``1 - beta2`` is ``decay / 2**decay_shift``, at most 0.875; the shift is 16 to 31. Held
        while elements are under way.
    gradient : In(signed 32)
        The gradient.
    i : In(SecondMoment)
        The old moment, at the same time.
    o : Out(SecondMoment)
        The moment's new value, ``LATENCY`` cycles later.
    """

    #: Cycles until a gradient's leading bits are known, then until their square is.
    _NORMALISE, _SQUARE = 3, 2
    #: Cycles from ``gradient`` and ``i`` to ``o``.
    LATENCY = _NORMALISE + _SQUARE + 3

    def __init__(self) -> None:
        super().__init__({
            "decay": In(FACTOR_WIDTH),
            "decay_shift": In(SHIFT_WIDTH),
            "gradient": In(signed(32)),
            "i": In(SecondMoment),
            "o": Out(SecondMoment),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        width = len(self.i.mantissa)

        # The gradient's magnitude, its length, its leading bits, and their square.
        size, length, leading = Signal(32), Signal(6), Signal(_LEADING)
        m.d.sync += [
            size.eq(abs(self.gradient)),
            length.eq(bit_length(size)),
            leading.eq((delay_by(m, size, 1) << (32 - length)[:6])[32 - _LEADING:32]),
        ]
        product = Signal(2 * _LEADING)
        m.d.comb += product.eq(leading * leading)
        square = delay_by(m, product, self._SQUARE)[2 * _LEADING - width:]
        square_exponent = Signal(signed(6))
        m.d.comb += square_exponent.eq(delay_by(m, length, 1 + self._SQUARE) - _WHOLE)

        # What stays of the old moment; meanwhile, how far they are apart.
        before = delay_by(m, self.i, self._NORMALISE)
        forgotten = Signal(width + len(self.decay))
        m.d.comb += forgotten.eq(before.mantissa * self.decay)
        old = delay_by(m, before, self._SQUARE)
        kept = Signal(width)
        m.d.sync += kept.eq(old.mantissa - (delay_by(m, forgotten, self._SQUARE)[16:]
                                            >> self.decay_shift[:4]))
        apart = Signal(signed(7))
        larger = Signal()
        m.d.comb += [
            apart.eq(old.exponent - square_exponent),
            larger.eq(~apart[-1]),
        ]
        places, old_larger, common, added = Signal(6), Signal(), Signal(5), Signal(width)
        m.d.sync += [
            places.eq(Mux(larger, apart, -apart)),
            old_larger.eq(larger),
            common.eq(Mux(larger, old.exponent, square_exponent)),
            added.eq(square),
        ]

        # The smaller one is shifted to the larger one's exponent.
        smaller = Mux(old_larger, added, kept)
        total, exponent = Signal(width + 1), Signal(5)
        m.d.sync += [
            total.eq(Mux(old_larger, kept, added) + (smaller >> Cat(0, places))),
            exponent.eq(common),
        ]

        # One step of four brings the sum back.
        above, below = Signal(), Signal()
        m.d.comb += [
            above.eq(total[width]),
            below.eq(~total[width - 2:].any() & (exponent != 0)),
        ]
        m.d.sync += [
            self.o.mantissa.eq(Mux(above, total >> 2, Mux(below, total << 2, total))),
            self.o.exponent.eq(exponent + above - below),
        ]
        return m
