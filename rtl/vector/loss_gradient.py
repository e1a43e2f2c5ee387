# SPDX-License-Identifier: BSD-2-Clause
"""Last pass of LOSS over a row: the gradient."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl.config import Config
from hypercast.rtl.isa import SHIFT_WIDTH
from hypercast.rtl.limits import group_size
from hypercast.rtl.vector.credit_fifo import CreditFIFO
from hypercast.rtl.vector.loss_layouts import (
    NormalizedRow,
    element_group,
    exponential_group,
    group_limit,
)
from hypercast.rtl.vector.pipeline import delay_by, magnitude, popcount
from hypercast.rtl.vector.requantizer import Requantizer
from hypercast.rtl.vector.sigmoid_factor import SigmoidFactor

__all__ = ["GRADIENT_WIDTH", "LossGradient"]

#: Bits of a probability minus one or zero, times a weight below two, with 33 fraction bits.
GRADIENT_WIDTH = 35


class LossGradient(wiring.Component):
    """Computes probabilities minus labels, weighted, a group per cycle; zero for rows not trained.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    groups : In(range(group_limit(config) + 1))
        Groups of a row, at least 1; held while rows are under way.
    shift : In(SHIFT_WIDTH), sigmoid : In(1)
        As in the instruction; held while rows are under way.
    i : In(stream of NormalizedRow)
        The rows.
    powers : In(stream of exponential_group(config))
        The groups of trained rows.
    o : Out(stream of element_group(config))
        Requantized gradients, all groups of all rows.
    magnitude : Out(GRADIENT_WIDTH - 1)
        OR of the magnitudes of the group being requantized; zero if there is none.
    saturations : Out
        How many elements of a group have just saturated.
    fault : Out(1)
        High while an entry of a table that was read had changed.
    """

    #: Groups under way or waiting to be taken.
    _GROUPS = 16

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "groups": In(range(group_limit(config) + 1)),
            "shift": In(SHIFT_WIDTH),
            "sigmoid": In(1),
            "i": In(stream.Signature(NormalizedRow)),
            "powers": In(stream.Signature(exponential_group(config))),
            "o": Out(stream.Signature(element_group(config))),
            "magnitude": Out(GRADIENT_WIDTH - 1),
            "saturations": Out(range(group_size(config) + 1)),
            "fault": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        m.submodules.output = output = CreditFIFO(element_group(config), self._GROUPS)
        lanes = group_size(config)
        m.submodules.requantizer = requantizer = Requantizer(
            lanes, GRADIENT_WIDTH, config.element_width)
        connect(m, output.o, flipped(self.o))

        row = self.i.p
        group = Signal.like(self.groups)
        last, fire = Signal(), Signal()
        m.d.comb += [
            last.eq(group == self.groups - 1),
            fire.eq(self.i.valid & output.credit & (self.powers.valid | ~row.trained)),
            self.i.ready.eq(fire & last),
            self.powers.ready.eq(fire & row.trained),
            output.take.eq(fire),
        ]
        with m.If(fire):
            m.d.sync += group.eq(Mux(last, 0, group + 1))

        m.submodules.factor = factor = SigmoidFactor(lanes)

        def awaited(value: Value, cycles: int) -> Value:
            """``value`` after some cycles; of sigmoids, after their factors' cycles, too."""
            value = delay_by(m, value, cycles)
            return Mux(self.sigmoid, delay_by(m, value, factor.LATENCY), value)

        trained = fire & row.trained
        reciprocal = delay_by(m, row.reciprocal, 1)
        n, weight = awaited(row.n, 2), awaited(row.weight, 2)
        m.d.comb += factor.weight.eq(delay_by(m, row.weight, 1))
        gradient = Signal(data.ArrayLayout(signed(GRADIENT_WIDTH), lanes))
        for lane in range(lanes):
            entry = self.powers.payload[lane]
            power = Mux(trained, entry.power, 0)
            m.d.comb += factor.i[lane].eq(delay_by(m, power, 1))
            product = delay_by(
                m, awaited(power, 1) * Mux(self.sigmoid, factor.o[lane], reciprocal), 1)
            own = awaited(trained & entry.own, 2)
            probability, label = Signal(GRADIENT_WIDTH), Signal(GRADIENT_WIDTH)
            m.d.comb += [
                probability.eq(product >> n),
                label.eq(Mux(own, weight, 0) << GRADIENT_WIDTH - 17),
            ]
            # The inverse of one and a carry are added to the other.
            negative = awaited(entry.negative, 2).replicate(GRADIENT_WIDTH)
            difference = Cat(1, label ^ ~negative) + Cat(1, probability ^ negative)
            m.d.sync += gradient[lane].eq(difference[1:].as_signed())

        rounded = awaited(fire, 3 + requantizer.LATENCY)
        m.d.sync += self.magnitude.eq(magnitude(gradient))
        m.d.comb += [
            requantizer.i.eq(gradient),
            requantizer.shift.eq(self.shift),
            output.push.eq(rounded),
            self.fault.eq(factor.fault),
            output.i.eq(requantizer.o),
        ]
        m.d.sync += self.saturations.eq(popcount(requantizer.saturated))
        return m
