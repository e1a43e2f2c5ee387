"""Brings a row of biases to the scale of the accumulators."""

from amaranth.hdl import Module, Mux, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.vector.requantizer import Requantizer

__all__ = ["BiasAligner", "aligned_row"]


def aligned_row(config):
    """Layout of the aligned biases: they are narrower than an accumulator by one bit."""
    return data.ArrayLayout(signed(config.accumulator_width - 1), config.lanes)


class BiasAligner(wiring.Component):
    """Computes ``arithmetic.align`` of a row of biases, one lane after the other.

    A bias is first shifted left as far as any may be, so that what remains is a right shift with
    rounding, also for a positive ``shift``.

    Parameters
    ----------
    config : Config
        Gives ``lanes``, ``element_width`` and ``accumulator_width``.

    Members
    -------
    start : In(1)
        High for a cycle to begin.
    word : In(data_width)
        The biases; valid with ``start``.
    shift : In(signed 8)
        Left if positive, at most ``accumulator_width - element_width - 1``; held while ``busy``.
    clear : In(1)
        High for a cycle to make all biases zero.
    bias : Out(aligned_row(config))
        The aligned biases, while not ``busy``.
    busy : Out(1)
        High for ``lanes + 3`` cycles after ``start``.
    """

    def __init__(self, config):
        self._config = config
        super().__init__({
            "start": In(1),
            "word": In(config.data_width),
            "shift": In(signed(8)),
            "clear": In(1),
            "bias": Out(aligned_row(config)),
            "busy": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        config = self._config
        width = config.accumulator_width - 1
        furthest = width - config.element_width
        m.submodules.requantizer = requantizer = Requantizer(1, width, width)

        word = Signal(config.data_width)
        left = Signal(range(config.lanes + requantizer.LATENCY + 1))  # lanes yet to come out
        amount = Signal(signed(9))
        m.d.comb += [
            self.busy.eq(left != 0),
            amount.eq(furthest - self.shift),
            requantizer.i[0].eq(word[:config.element_width] << furthest),
            requantizer.shift.eq(Mux(amount > 63, 63, amount)),
        ]
        with m.If(self.busy):
            bias = self.bias.as_value()
            m.d.sync += [
                word.eq(word >> config.element_width),
                bias.eq((bias >> width) | (requantizer.o[0].as_unsigned()
                                           << width * (config.lanes - 1))),
                left.eq(left - 1),
            ]
        with m.If(self.clear):
            m.d.sync += self.bias.eq(0)
        with m.If(self.start):
            m.d.sync += [word.eq(self.word), left.eq(config.lanes + requantizer.LATENCY)]
        return m
