# SPDX-License-Identifier: BSD-2-Clause
"""Where Adam goes: the momentum over the root of the second moment, one per cycle."""

from amaranth.hdl import C, Cat, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.isa import EPSILON_EXPONENT_WIDTH, EPSILON_WIDTH, LOSS_WEIGHT_ONE
from hypercast.rtl.lib.delay_line import DelayLine
from hypercast.rtl.vector.pipeline import delay_by
from hypercast.rtl.vector.reciprocal import Reciprocal
from hypercast.rtl.vector.requantizer import Requantizer
from hypercast.rtl.vector.second_moment import SecondMoment
from hypercast.rtl.vector.square_root import SquareRoot

__all__ = ["AdamDirection"]

#: Bits of roots and divisors.
_BITS = EPSILON_WIDTH
#: Zeros appended to the product, so that it is shifted to the right by just the exponent.
_ZEROS = 1
#: Cycles of a multiplication, and of adding epsilon.
_MULTIPLY, _ADD = 2, 3


class AdamDirection(wiring.Component):
    """Computes ``adam.direction``; a pipeline that never stalls.

    Members
    -------
    epsilon : In(EPSILON_WIDTH), epsilon_exponent : In(EPSILON_EXPONENT_WIDTH)
        ``epsilon`` is at least ``2**17``; held while elements are under way.
    momentum : In(signed 32), second_moment : In(SecondMoment)
        New moments of a weight.
    o : Out(signed 32)
        The direction, ``LATENCY`` cycles later.
    saturated : Out(1)
        The direction saturated; at the same time.
    """

    #: Cycles from the inputs to ``o``.
    LATENCY = SquareRoot.LATENCY + _ADD + Reciprocal.LATENCY + _MULTIPLY + Requantizer.LATENCY

    def __init__(self) -> None:
        super().__init__({
            "epsilon": In(_BITS),
            "epsilon_exponent": In(EPSILON_EXPONENT_WIDTH),
            "momentum": In(signed(32)),
            "second_moment": In(SecondMoment),
            "o": Out(signed(32)),
            "saturated": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.square_root = square_root = SquareRoot()
        m.submodules.reciprocal = reciprocal = Reciprocal(_BITS)
        m.d.comb += reciprocal.weight.eq(LOSS_WEIGHT_ONE)
        mantissa = self.second_moment.mantissa
        m.d.comb += square_root.i.eq(Cat(C(0, len(square_root.i) - len(mantissa)), mantissa))
        exponent = delay_by(m, self.second_moment.exponent, SquareRoot.LATENCY)

        # The one of root and epsilon with the smaller exponent is shifted to the other's.
        apart = Signal(signed(6))
        m.d.comb += apart.eq(exponent - self.epsilon_exponent)
        larger, smaller, places, common = Signal(_BITS), Signal(_BITS), Signal(5), Signal(5)
        total, total_exponent = Signal(_BITS + 1), Signal(5)
        divisor, shift = Signal(_BITS), Signal(6)
        with m.If(~apart[-1]):
            m.d.sync += [larger.eq(square_root.o), smaller.eq(self.epsilon),
                         places.eq(apart), common.eq(exponent)]
        with m.Else():
            m.d.sync += [larger.eq(self.epsilon), smaller.eq(square_root.o),
                         places.eq(-apart), common.eq(self.epsilon_exponent)]
        m.d.sync += [
            total.eq(larger + (smaller >> places)),
            total_exponent.eq(common),
            divisor.eq(Mux(total[-1], total[1:], total)),
            shift.eq(total_exponent + total[-1]),
        ]
        m.d.comb += reciprocal.divisor.eq(divisor)

        m.submodules.momentum_delay = momentum = DelayLine(
            signed(32), SquareRoot.LATENCY + _ADD + Reciprocal.LATENCY)
        product = Signal(signed(len(momentum.o) + len(reciprocal.o)))
        m.d.comb += [momentum.i.eq(self.momentum), product.eq(momentum.o * reciprocal.o)]
        product = delay_by(m, product, _MULTIPLY)
        m.submodules.requantizer = requantizer = Requantizer(1, _ZEROS + len(product), 32)
        m.d.comb += [
            requantizer.i[0].eq(Cat(C(0, _ZEROS), product).as_signed()),
            requantizer.shift.eq(delay_by(m, shift, Reciprocal.LATENCY + _MULTIPLY)),
            self.o.eq(requantizer.o[0]),
            self.saturated.eq(requantizer.saturated),
        ]
        return m
