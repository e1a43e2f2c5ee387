# SPDX-License-Identifier: BSD-2-Clause
"""The optimiser's arithmetic for one weight per cycle."""

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value, ValueLike, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.isa import (
    EPSILON_EXPONENT_WIDTH,
    EPSILON_WIDTH,
    FACTOR_ONE,
    FACTOR_WIDTH,
    GRADIENT_ZEROS,
    SHIFT_WIDTH,
)
from hypercast.rtl.lib.delay_line import DelayLine
from hypercast.rtl.limits import UPDATE_CYCLES
from hypercast.rtl.vector.adam_step import AdamStep
from hypercast.rtl.vector.pipeline import delay_by, magnitude
from hypercast.rtl.vector.requantizer import Requantizer
from hypercast.rtl.vector.second_moment import SecondMoment

__all__ = ["Rates", "UpdateLane"]

#: Cycles of a multiplication.
_MULTIPLY = 2
#: To this width the gradient is saturated, as the reference does.
_STEP_WIDTH = 34
#: Terms of a sum that is saturated to 32 bits may be saturated to this width before, as then no
#: other terms bring the sum back into range.
_TERM_WIDTH = 35


class Rates(data.Struct):
    """Constants of an UPDATE, as in the instruction and its ``shift`` and ``aux_shift``."""

    momentum: FACTOR_WIDTH
    decay: FACTOR_WIDTH
    decay_shift: SHIFT_WIDTH
    rate: FACTOR_WIDTH
    rate_shift: SHIFT_WIDTH
    adam: 1
    second_decay: FACTOR_WIDTH
    second_decay_shift: SHIFT_WIDTH
    epsilon: EPSILON_WIDTH
    epsilon_exponent: EPSILON_EXPONENT_WIDTH
    gradient_shift: SHIFT_WIDTH
    operand_shift: SHIFT_WIDTH


class _State(data.Struct):
    """What passes Adam's arithmetic by."""

    master: signed(32)
    momentum: signed(32)
    saturated: 1


class UpdateLane(wiring.Component):
    """Computes ``arithmetic.update`` or, with ``rates.adam``, ``adam.adam_update``.

    One element per cycle, in a pipeline that never stalls.

    Parameters
    ----------
    config : Config
        Gives ``accumulator_width``, ``element_width`` and ``adam``.

    Members
    -------
    rates : In(Rates)
        Held while elements are under way.
    gradient : In(signed accumulator_width)
        Summed gradient.
    master, momentum : In(signed 32)
        The weight and its momentum.
    second_moment : In(SecondMoment)
        Adam's second moment.
    new_master, new_momentum : Out(signed 32)
        The new weight and momentum, ``LATENCY`` cycles later; with Adam, ``AdamStep.LATENCY`` more.
    new_second_moment : Out(SecondMoment)
        With Adam, the new second moment, at the same time.
    operand : Out(signed element_width)
        The new weight, requantized; at the same time.
    magnitude : Out(31)
        Magnitude of ``new_master``; at the same time.
    saturations : Out(2)
        How many of momentum, weight and operand saturated (or, with the momentum, what Adam makes
        of it); at the same time.
    """

    _TERMS = _MULTIPLY + Requantizer.LATENCY + 2
    _WEIGHT = _MULTIPLY + Requantizer.LATENCY + 2
    #: Cycles from the inputs to all outputs.
    LATENCY = _TERMS + _WEIGHT + Requantizer.LATENCY
    assert LATENCY == UPDATE_CYCLES

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "rates": In(Rates),
            "gradient": In(signed(config.accumulator_width)),
            "master": In(signed(32)),
            "momentum": In(signed(32)),
            "second_moment": In(SecondMoment),
            "new_master": Out(signed(32)),
            "new_momentum": Out(signed(32)),
            "new_second_moment": Out(SecondMoment),
            "operand": Out(signed(config.element_width)),
            "magnitude": Out(31),
            "saturations": Out(2),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        rates = self.rates
        rounding = Requantizer.LATENCY

        def requantized(value: Value, shift: Value, width: int) -> tuple[Value, Value]:
            requantizer = Requantizer(1, len(value), width)
            m.submodules += requantizer
            m.d.comb += [requantizer.i[0].eq(value), requantizer.shift.eq(shift)]
            return requantizer.o[0], requantizer.saturated

        def product(value: Value, factor: Value, offset: ValueLike = 0) -> Value:
            result = Signal(signed(48))
            m.d.comb += result.eq(value * factor + offset)
            return delay_by(m, result, _MULTIPLY)

        def saturated(value: Value) -> tuple[Signal, Signal]:
            """``value`` in 32 bits, one cycle later, and whether it did not fit."""
            above = value[31:]
            fits = ~above.any() | above.all()
            limit = Cat((~value[-1]).replicate(31), value[-1])
            result, flag = Signal(signed(32)), Signal()
            m.d.sync += [
                result.eq(Mux(fits, value[:32], limit).as_signed()),
                flag.eq(~fits),
            ]
            return result, flag

        # New momentum: three terms, rounded one by one; with Adam, the first towards zero.
        offset = 0
        if self._config.adam:
            half = C(FACTOR_ONE // 2, signed(FACTOR_WIDTH + 1))
            offset = Mux(rates.adam, Mux(self.momentum[-1], half, -half), 0)
        momentum_term, _ = requantized(
            product(self.momentum, rates.momentum, offset), FACTOR_WIDTH, _TERM_WIDTH)
        decay_term, _ = requantized(
            product(self.master, rates.decay), rates.decay_shift, _TERM_WIDTH)
        step, _ = requantized(
            Cat(C(0, GRADIENT_ZEROS), self.gradient).as_signed(), rates.gradient_shift, _STEP_WIDTH)
        gradient = Signal(signed(_TERM_WIDTH + 1))
        total = Signal(signed(_TERM_WIDTH + 2))
        m.d.comb += gradient.eq(decay_term + delay_by(m, step, _MULTIPLY))
        m.d.sync += total.eq(momentum_term + gradient)
        momentum, momentum_saturated = saturated(total)
        early = Signal(_State)
        m.d.comb += [
            early.master.eq(delay_by(m, self.master, self._TERMS)),
            early.momentum.eq(momentum),
            early.saturated.eq(momentum_saturated),
        ]

        # What the rate is applied to; Adam takes a while to find it.
        state, direction, direction_saturated = early, momentum, C(0)
        if self._config.adam:
            m.submodules.adam = adam = AdamStep()
            m.submodules.delay = delay = DelayLine(_State, adam.LATENCY)
            whole, gradient_saturated = saturated(delay_by(m, gradient, 1))
            m.d.comb += [
                adam.decay.eq(rates.second_decay),
                adam.decay_shift.eq(rates.second_decay_shift),
                adam.epsilon.eq(rates.epsilon),
                adam.epsilon_exponent.eq(rates.epsilon_exponent),
                adam.gradient.eq(whole),
                adam.momentum.eq(momentum),
                adam.second_moment.eq(delay_by(m, self.second_moment, self._TERMS)),
                delay.i.eq(early),
                delay.i.saturated.eq(momentum_saturated | gradient_saturated),
                self.new_second_moment.eq(
                    delay_by(m, adam.new_second_moment, self.LATENCY - self._TERMS)),
            ]
            state = _State(Mux(rates.adam, delay.o.as_value(), early.as_value()))
            direction = Mux(rates.adam, adam.direction, momentum)
            direction_saturated = rates.adam & adam.saturated

        # New weight.
        rate_term, _ = requantized(product(direction, rates.rate), rates.rate_shift, _TERM_WIDTH)
        difference = Signal(signed(_TERM_WIDTH + 1))
        master = delay_by(m, state.master, _MULTIPLY + rounding)
        m.d.sync += difference.eq(master - rate_term)
        weight, weight_saturated = saturated(difference)

        operand, operand_saturated = requantized(
            weight, rates.operand_shift, self._config.element_width)
        wait = self.LATENCY - self._TERMS
        m.d.comb += [
            self.new_master.eq(delay_by(m, weight, rounding)),
            self.new_momentum.eq(delay_by(m, state.momentum, wait)),
            self.operand.eq(operand),
            self.magnitude.eq(magnitude([self.new_master])),
            self.saturations.eq(
                delay_by(m, state.saturated | direction_saturated, wait)
                + delay_by(m, weight_saturated, rounding) + operand_saturated),
        ]
        return m
