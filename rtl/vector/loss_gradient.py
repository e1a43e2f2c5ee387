"""Last pass of LOSS over a row: the gradient."""

from amaranth.hdl import C, Cat, Module, Mux, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl.vector.credit_fifo import CreditFIFO
from hypercast.rtl.vector.exponentials import exponential_word
from hypercast.rtl.vector.loss_layouts import NormalizedRow
from hypercast.rtl.vector.pipeline import delayed, magnitude, popcount
from hypercast.rtl.vector.requantizer import Requantizer

__all__ = ["GRADIENT_WIDTH", "LossGradient"]

#: Bits of a probability minus one or zero, with 33 fraction bits.
GRADIENT_WIDTH = 35


class LossGradient(wiring.Component):
    """Computes softmax minus one-hot label, one panel per cycle; zero for rows not trained.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    panels : In(9), shift : In(6)
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

        lane_bits = config.lanes.bit_length() - 1
        trained = fire & row.trained
        reciprocal = delayed(m, row.reciprocal, 1)
        n = delayed(m, row.n, 2)
        gradient = Signal(data.ArrayLayout(signed(GRADIENT_WIDTH), config.lanes))
        for lane in range(config.lanes):
            power = delayed(m, Mux(trained, self.powers.payload[lane], 0), 1)
            product = delayed(m, power * reciprocal, 1)
            own = delayed(m, trained & (Cat(C(lane, lane_bits), panel) == row.label), 2)
            m.d.sync += gradient[lane].eq((product >> n) - (own << GRADIENT_WIDTH - 2))

        rounded = delayed(m, fire, 3 + requantizer.LATENCY)
        m.d.sync += self.magnitude.eq(magnitude(gradient))
        m.d.comb += [
            requantizer.i.eq(gradient),
            requantizer.shift.eq(self.shift),
            output.push.eq(rounded),
            output.i.eq(requantizer.o),
        ]
        m.d.sync += self.saturations.eq(popcount(requantizer.saturated))
        return m
