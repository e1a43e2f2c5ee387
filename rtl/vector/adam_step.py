# SPDX-License-Identifier: BSD-2-Clause
"""What Adam adds to SGD: the second moment, and the momentum over its root."""

from amaranth.hdl import Module, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.isa import EPSILON_EXPONENT_WIDTH, EPSILON_WIDTH, FACTOR_WIDTH, SHIFT_WIDTH
from hypercast.rtl.lib.delay_line import DelayLine
from hypercast.rtl.limits import ADAM_CYCLES
from hypercast.rtl.vector.adam_direction import AdamDirection
from hypercast.rtl.vector.pipeline import delay_by
from hypercast.rtl.vector.second_moment import SecondMoment, SecondMomentUnit

__all__ = ["AdamStep"]


class AdamStep(wiring.Component):
    """Computes ``adam.next_second_moment`` and, with it, ``adam.direction``.

    One element per cycle, in a pipeline that never stalls.

    Members
    -------
    decay : In(FACTOR_WIDTH), decay_shift : In(SHIFT_WIDTH)
    epsilon : In(EPSILON_WIDTH), epsilon_exponent : In(EPSILON_EXPONENT_WIDTH)
        Constants, see ``SecondMomentUnit`` and ``AdamDirection``; held while elements are under
        way.
    gradient, momentum : In(signed 32)
        The gradient, and the new momentum.
    second_moment : In(SecondMoment)
        The old second moment.
    direction : Out(signed 32), saturated : Out(1)
        The direction and whether it saturated, ``LATENCY`` cycles later.
    new_second_moment : Out(SecondMoment)
        The new second moment, at the same time.
    """

    #: Cycles from the inputs to all outputs.
    LATENCY = SecondMomentUnit.LATENCY + AdamDirection.LATENCY
    assert LATENCY == ADAM_CYCLES

    def __init__(self) -> None:
        super().__init__({
            "decay": In(FACTOR_WIDTH),
            "decay_shift": In(SHIFT_WIDTH),
            "epsilon": In(EPSILON_WIDTH),
            "epsilon_exponent": In(EPSILON_EXPONENT_WIDTH),
            "gradient": In(signed(32)),
            "momentum": In(signed(32)),
            "second_moment": In(SecondMoment),
            "direction": Out(signed(32)),
            "saturated": Out(1),
            "new_second_moment": Out(SecondMoment),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.unit = unit = SecondMomentUnit()
        m.submodules.path = path = AdamDirection()
        m.submodules.delay = delay = DelayLine(SecondMoment, path.LATENCY)
        m.d.comb += [
            unit.decay.eq(self.decay),
            unit.decay_shift.eq(self.decay_shift),
            unit.gradient.eq(self.gradient),
            unit.i.eq(self.second_moment),
            path.epsilon.eq(self.epsilon),
            path.epsilon_exponent.eq(self.epsilon_exponent),
            path.momentum.eq(delay_by(m, self.momentum, unit.LATENCY)),
            path.second_moment.eq(unit.o),
            delay.i.eq(unit.o),
            self.direction.eq(path.o),
            self.saturated.eq(path.saturated),
            self.new_second_moment.eq(delay.o),
        ]
        return m
