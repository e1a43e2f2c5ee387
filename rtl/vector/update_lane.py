"""The optimiser's arithmetic for one weight per cycle."""

from amaranth.hdl import C, Cat, Module, Mux, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.vector.pipeline import delayed, magnitude
from hypercast.rtl.vector.requantizer import Requantizer

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

    momentum: 16
    decay: 16
    decay_shift: 6
    rate: 16
    rate_shift: 6
    gradient_shift: 6
    operand_shift: 6


class UpdateLane(wiring.Component):
    """Computes ``arithmetic.update``, one element per cycle, in a pipeline that never stalls.

    Parameters
    ----------
    config : Config
        Gives ``accumulator_width`` and ``element_width``.

    Members
    -------
    rates : In(Rates)
        Held while elements are under way.
    gradient : In(signed accumulator_width)
        Summed gradient.
    master, momentum : In(signed 32)
        The weight and its momentum.
    new_master, new_momentum : Out(signed 32)
        Their new values, ``LATENCY`` cycles later.
    operand : Out(signed element_width)
        The new weight, requantized; at the same time.
    magnitude : Out(31)
        Of ``new_master``; at the same time.
    saturations : Out(2)
        How many of the three new values saturated; at the same time.
    """

    #: Cycles from the inputs to all outputs.
    LATENCY = 2 * _MULTIPLY + 3 * Requantizer.LATENCY + 4

    def __init__(self, config):
        self._config = config
        super().__init__({
            "rates": In(Rates),
            "gradient": In(signed(config.accumulator_width)),
            "master": In(signed(32)),
            "momentum": In(signed(32)),
            "new_master": Out(signed(32)),
            "new_momentum": Out(signed(32)),
            "operand": Out(signed(config.element_width)),
            "magnitude": Out(31),
            "saturations": Out(2),
        })

    def elaborate(self, platform):
        m = Module()
        rates = self.rates
        rounding = Requantizer.LATENCY

        def requantized(value, shift, width):
            requantizer = Requantizer(1, len(value), width)
            m.submodules += requantizer
            m.d.comb += [requantizer.i[0].eq(value), requantizer.shift.eq(shift)]
            return requantizer.o[0], requantizer.saturated

        def product(value, factor):
            result = Signal(signed(48))
            m.d.comb += result.eq(value * factor)
            return delayed(m, result, _MULTIPLY)

        def saturated(value):
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

        # New momentum: three terms, rounded one by one.
        momentum_term, _ = requantized(
            product(self.momentum, rates.momentum), 16, _TERM_WIDTH)
        decay_term, _ = requantized(
            product(self.master, rates.decay), rates.decay_shift, _TERM_WIDTH)
        step, _ = requantized(
            Cat(C(0, 16), self.gradient).as_signed(), rates.gradient_shift, _STEP_WIDTH)
        total = Signal(signed(_TERM_WIDTH + 2))
        m.d.sync += total.eq(momentum_term + decay_term + delayed(m, step, _MULTIPLY))
        momentum, momentum_saturated = saturated(total)
        terms_latency = _MULTIPLY + rounding + 2

        # New weight.
        rate_term, _ = requantized(
            product(momentum, rates.rate), rates.rate_shift, _TERM_WIDTH)
        difference = Signal(signed(_TERM_WIDTH + 1))
        master = delayed(m, self.master, terms_latency + _MULTIPLY + rounding)
        m.d.sync += difference.eq(master - rate_term)
        weight, weight_saturated = saturated(difference)

        operand, operand_saturated = requantized(
            weight, rates.operand_shift, self._config.element_width)
        momentum_wait = self.LATENCY - terms_latency
        m.d.comb += [
            self.new_master.eq(delayed(m, weight, rounding)),
            self.new_momentum.eq(delayed(m, momentum, momentum_wait)),
            self.operand.eq(operand),
            self.magnitude.eq(magnitude([self.new_master])),
            self.saturations.eq(
                delayed(m, momentum_saturated, momentum_wait)
                + delayed(m, weight_saturated, rounding) + operand_saturated),
        ]
        return m
