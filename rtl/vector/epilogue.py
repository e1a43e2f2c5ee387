# SPDX-License-Identifier: BSD-2-Clause
"""What becomes of accumulators on their way to memory: bias, selection, rounding, scale."""

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.isa import FACTOR_ONE, FACTOR_WIDTH, SHIFT_WIDTH
from hypercast.rtl.layouts import accumulator_row
from hypercast.rtl.lib.adder import sum_of
from hypercast.rtl.vector.bias_aligner import aligned_row
from hypercast.rtl.vector.pipeline import delay_by, magnitude, popcount
from hypercast.rtl.vector.requantizer import Requantizer

__all__ = ["Epilogue"]


class Epilogue(wiring.Component):
    """Turns a row of accumulators into a word; a pipeline of one row per cycle, never stalling.

    Stages: add the bias; select (else zero); requantize; multiply by the scale; requantize again.

    Parameters
    ----------
    config : Config
        Gives ``lanes``, ``element_width`` and ``accumulator_width``.

    Members
    -------
    valid : In(1)
        A row enters.
    row : In(accumulator_row(config))
        The row's accumulators.
    keep : In(lanes)
        Lanes that are not dropped. Like ``row`` valid with ``valid``.
    bias : In(aligned_row(config))
        Added to the accumulators. This and the inputs below are held while rows are under way.
    relu : In(1)
        Negative sums become zero.
    shift : In(SHIFT_WIDTH)
        Requantizes the sums.
    scale : In(FACTOR_WIDTH)
        Unsigned fraction, ``value / FACTOR_ONE``, by which the results are multiplied; 0 means 1.
    o_valid : Out(1)
        ``valid`` of ``LATENCY`` cycles ago.
    word : Out(data_width)
        The results, packed; valid with ``o_valid``.
    mask : Out(lanes)
        Lanes that were positive and kept; valid with ``o_valid``.
    magnitude : Out(accumulator_width)
        OR of the magnitudes of a row's selected sums; zero if there is no row.
    saturations : Out
        How many results of a row saturated; zero if there is no row.
    """

    #: Cycles from ``valid`` to ``o_valid``.
    LATENCY = 4 + 2 * Requantizer.LATENCY

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "valid": In(1),
            "row": In(accumulator_row(config)),
            "keep": In(config.lanes),
            "bias": In(aligned_row(config)),
            "relu": In(1),
            "shift": In(SHIFT_WIDTH),
            "scale": In(FACTOR_WIDTH),
            "o_valid": Out(1),
            "word": Out(config.data_width),
            "mask": Out(config.lanes),
            "magnitude": Out(config.accumulator_width),
            "saturations": Out(range(config.lanes + 1)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        lanes, element = self._config.lanes, self._config.element_width
        sum_width = self._config.accumulator_width + 1
        product_width = element + 17
        m.submodules.requantizer = requantizer = Requantizer(lanes, sum_width, element)
        m.submodules.scaler = scaler = Requantizer(lanes, product_width, element)

        sums = Signal(data.ArrayLayout(signed(sum_width), lanes))
        summed_keep = delay_by(m, self.keep, 1)
        selected = Signal.like(sums)
        mask = Signal(lanes)
        for lane in range(lanes):
            keep = summed_keep[lane] & ~(self.relu & (sums[lane] < 0))
            m.d.sync += [
                sums[lane].eq(sum_of(self.bias[lane], self.row[lane], sum_width)),
                selected[lane].eq(Mux(keep, sums[lane], 0)),
                mask[lane].eq(summed_keep[lane] & (sums[lane] > 0)),
            ]

        # Without a scale results are multiplied by 2**16, which the second shift takes back.
        factor = Signal(signed(FACTOR_WIDTH + 2))
        m.d.sync += factor.eq(Mux(self.scale == 0, FACTOR_ONE, self.scale))
        product = Signal(data.ArrayLayout(signed(product_width), lanes))
        for lane in range(lanes):
            m.d.sync += product[lane].eq(requantizer.o[lane] * factor)
        m.d.comb += [
            requantizer.i.eq(selected),
            requantizer.shift.eq(self.shift),
            scaler.i.eq(delay_by(m, product, 1)),
            scaler.shift.eq(FACTOR_WIDTH),
            self.word.eq(scaler.o),
        ]

        selected_valid = delay_by(m, self.valid, 2)
        rounded_valid = delay_by(m, selected_valid, requantizer.LATENCY)
        with m.If(selected_valid):
            m.d.sync += self.magnitude.eq(magnitude(selected))
        with m.Else():
            m.d.sync += self.magnitude.eq(0)
        with m.If(rounded_valid):
            m.d.sync += self.saturations.eq(popcount(requantizer.saturated))
        with m.Else():
            m.d.sync += self.saturations.eq(0)
        rest = Cat(mask, selected_valid)
        m.d.comb += Cat(self.mask, self.o_valid).eq(delay_by(m, rest, self.LATENCY - 2))
        return m
