# SPDX-License-Identifier: BSD-2-Clause
"""One multiplier and accumulator of the systolic array."""

from amaranth.hdl import Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config

__all__ = ["ProcessingElement"]


class ProcessingElement(wiring.Component):
    """A multiply-accumulate cell that keeps either its weight or its sum in place.

    Weight-stationary, ``sum = sum_above + left * weight``; the weight is taken from the shadow
    register when ``take`` is high, so that shadow registers can be loaded during a tile.
    Output-stationary (``gradient``), ``sum += left * weight``, where the shadow register and the
    weight are two stages of the operand that moves down: ``load`` and ``take`` are then always
    high.

    ``left`` takes one cycle to ``right``, one more to the product and one more to ``sum``: operand
    and weight, product and sum are the registers of one DSP slice, whose adder adds the product to
    the sum or to a third operand.

    Parameters
    ----------
    config : Config
        Gives ``element_width`` (E) and ``accumulator_width`` (A).

    Members
    -------
    gradient : In(1)
        Output-stationary. Changes only while the array is empty.
    left : In(E), right : Out(E)
        Operand moving right, signed.
    load : In(1), from_side : In(1)
        Loads the shadow register from ``shadow_left`` or else from ``shadow_above``.
    shadow_above, shadow_left : In(E), shadow : Out(E)
        Shadow registers of the neighbours and of this cell.
    take : In(1)
        The shadow register becomes the weight of the operand that is now at ``left``.
    sum_above : In(A), sum : Out(A)
        Partial sum moving down. Output-stationary, ``sum`` wraps, and nothing ever clears it.
    """

    def __init__(self, config: Config) -> None:
        element = signed(config.element_width)
        accumulator = signed(config.accumulator_width)
        super().__init__({
            "gradient": In(1),
            "left": In(element),
            "right": Out(element),
            "load": In(1),
            "from_side": In(1),
            "shadow_above": In(element),
            "shadow_left": In(element),
            "shadow": Out(element),
            "take": In(1),
            "sum_above": In(accumulator),
            "sum": Out(accumulator),
        })
        self._element = element

    def elaborate(self, platform: object) -> Module:
        m = Module()
        weight = Signal(self._element)
        product = Signal(signed(2 * self._element.width))
        with m.If(self.load):
            m.d.sync += self.shadow.eq(Mux(self.from_side, self.shadow_left, self.shadow_above))
        with m.If(self.take):
            m.d.sync += weight.eq(self.shadow)
        m.d.sync += [
            self.right.eq(self.left),
            product.eq(self.right * weight),
            self.sum.eq(Mux(self.gradient, self.sum, self.sum_above) + product),
        ]
        return m
