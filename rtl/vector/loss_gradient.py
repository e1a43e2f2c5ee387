"""Last pass of LOSS over a row: the gradient."""

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl.vector.credit_fifo import CreditFIFO
from hypercast.rtl.vector.loss_layouts import NormalizedRow, exponential_word
from hypercast.rtl.vector.pipeline import delayed, magnitude, popcount
from hypercast.rtl.vector.requantizer import Requantizer
from hypercast.rtl.vector.sigmoid_factor import SigmoidFactor

__all__ = ["GRADIENT_WIDTH", "LossGradient"]

#: Bits of a probability minus one or zero, times a weight below two, with 33 fraction bits.
GRADIENT_WIDTH = 35


class LossGradient(wiring.Component):
    """Computes probabilities minus labels, weighted, a panel per cycle; zero for rows not trained.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    panels : In(9), shift : In(6), sigmoid : In(1)
        As in the instruction; held while rows are under way.
    i : In(stream of NormalizedRow)
        The rows.
    powers : In(stream of exponential_word(config))
        The panels of trained rows.
    o : Out(stream of data_width)
        Requantized gradients, all panels of all rows.
    magnitude : Out(GRADIENT_WIDTH - 1)
        Of the panel being requantized; zero if there is none.
    saturations : Out
        How many elements of a panel have just saturated.
    """

    #: Panels under way or waiting to be taken.
    _PANELS = 16

    def __init__(self, config):
        self._config = config
        super().__init__({
            "panels": In(9),
            "shift": In(6),
            "sigmoid": In(1),
            "i": In(stream.Signature(NormalizedRow)),
            "powers": In(stream.Signature(exponential_word(config))),
            "o": Out(stream.Signature(config.data_width)),
            "magnitude": Out(GRADIENT_WIDTH - 1),
            "saturations": Out(range(config.lanes + 1)),
        })

    def elaborate(self, platform):
        m = Module()
        config = self._config
        m.submodules.output = output = CreditFIFO(config.data_width, self._PANELS)
        m.submodules.requantizer = requantizer = Requantizer(
            config.lanes, GRADIENT_WIDTH, config.element_width)
        connect(m, output.o, flipped(self.o))

        row = self.i.p
        panel = Signal.like(self.panels)
        last, fire = Signal(), Signal()
        m.d.comb += [
            last.eq(panel == self.panels - 1),
            fire.eq(self.i.valid & output.credit & (self.powers.valid | ~row.trained)),
            self.i.ready.eq(fire & last),
            self.powers.ready.eq(fire & row.trained),
            output.take.eq(fire),
        ]
        with m.If(fire):
            m.d.sync += panel.eq(Mux(last, 0, panel + 1))

        m.submodules.factor = factor = SigmoidFactor(config.lanes)

        def awaited(value, cycles):
            """``value`` after some cycles, and after those that factors of sigmoids take."""
            value = delayed(m, value, cycles)
            return Mux(self.sigmoid, delayed(m, value, factor.LATENCY), value)

        trained = fire & row.trained
        reciprocal = delayed(m, row.reciprocal, 1)
        n, weight = awaited(row.n, 2), awaited(row.weight, 2)
        m.d.comb += factor.weight.eq(delayed(m, row.weight, 1))
        gradient = Signal(data.ArrayLayout(signed(GRADIENT_WIDTH), config.lanes))
        for lane in range(config.lanes):
            entry = self.powers.payload[lane]
            power = Mux(trained, entry.power, 0)
            m.d.comb += factor.i[lane].eq(delayed(m, power, 1))
            product = delayed(
                m, awaited(power, 1) * Mux(self.sigmoid, factor.o[lane], reciprocal), 1)
            own = awaited(trained & entry.own, 2)
            probability, label = Signal(GRADIENT_WIDTH), Signal(GRADIENT_WIDTH)
            m.d.comb += [
                probability.eq(product >> n),
                label.eq(Mux(own, weight, 0) << GRADIENT_WIDTH - 17),
            ]
            # The inverse of one and a carry are added to the other.
            negative = awaited(entry.negative, 2).replicate(GRADIENT_WIDTH)
            difference = Cat(1, probability ^ negative) + Cat(1, label ^ ~negative)
            m.d.sync += gradient[lane].eq(difference[1:].as_signed())

        rounded = awaited(fire, 3 + requantizer.LATENCY)
        m.d.sync += self.magnitude.eq(magnitude(gradient))
        m.d.comb += [
            requantizer.i.eq(gradient),
            requantizer.shift.eq(self.shift),
            output.push.eq(rounded),
            output.i.eq(requantizer.o),
        ]
        m.d.sync += self.saturations.eq(popcount(requantizer.saturated))
        return m
