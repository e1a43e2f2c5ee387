# SPDX-License-Identifier: BSD-2-Clause
"""Reads a row of biases and brings it to the scale of the accumulators."""

from amaranth.hdl import Cat, Module, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.isa import EXPONENT_WIDTH, LONGEST_SHIFT
from hypercast.rtl.layouts import AccumulatorPort, WeightPort
from hypercast.rtl.lib.extremes import minimum
from hypercast.rtl.limits import BIAS_GROUPS
from hypercast.rtl.vector.requantizer import Requantizer

__all__ = ["BiasAligner", "aligned_row"]


def aligned_row(config: Config) -> data.ArrayLayout:
    """Layout of the aligned biases: they are narrower than an accumulator by one bit."""
    return data.ArrayLayout(signed(config.accumulator_width - 1), config.lanes)


class BiasAligner(wiring.Component):
    """Computes ``arithmetic.align`` of a row of biases, in at most eight groups of lanes.

    That takes no longer than the dropout decisions of a run's first row. A bias is first shifted
    left as far as any may be, so that what remains is a right shift with rounding, also for a
    positive ``shift``.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        High for a cycle to begin.
    row : In(range(weight_rows))
        Row of the weight bank with the biases; valid with ``start``, held while ``busy``.
    shift : In(signed 8)
        Left if positive, at most ``accumulator_width - element_width - 1``; held while ``busy``.
    weights : Out(WeightPort(config))
        Access to the weight bank.
    clear : In(1)
        High for a cycle to make all biases zero.
    busy : Out(1)
        High from the cycle after ``start``, for two cycles more than there are groups if the weight
        bank is free.
    bias : Out(aligned_row(config))
        The aligned biases, from ``AccumulatorPort.LATENCY`` cycles after ``busy`` has fallen, so
        that they meet accumulators that are asked for then.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "row": In(range(config.weight_rows)),
            "shift": In(signed(EXPONENT_WIDTH)),
            "weights": Out(WeightPort(config)),
            "clear": In(1),
            "busy": Out(1),
            "bias": Out(aligned_row(config)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        width = config.accumulator_width - 1
        furthest = width - config.element_width
        groups = min(config.lanes, BIAS_GROUPS)
        lanes = config.lanes // groups
        m.submodules.requantizer = requantizer = Requantizer(lanes, width, width)

        request, waiting, arrived = self.weights.request, Signal(), Signal()
        m.d.comb += [
            request.valid.eq(self.start | waiting),
            request.payload.eq(self.row),
        ]
        m.d.sync += [
            waiting.eq(request.valid & ~request.ready),
            arrived.eq(request.valid & request.ready),
        ]

        word = Signal(config.data_width)
        left = Signal(range(groups + requantizer.LATENCY + 1))  # groups yet to come out
        amount = Signal(signed(9))
        m.d.comb += [
            self.busy.eq(waiting | arrived | (left > AccumulatorPort.LATENCY)),
            amount.eq(furthest - self.shift),
            requantizer.shift.eq(minimum(amount, LONGEST_SHIFT)),
        ]
        for lane in range(lanes):
            element = word.word_select(lane, config.element_width)
            m.d.comb += requantizer.i[lane].eq(element << furthest)
        with m.If(left != 0):
            m.d.sync += [
                word.eq(word >> lanes * config.element_width),
                self.bias.eq(Cat(self.bias, requantizer.o)[lanes * width:]),
                left.eq(left - 1),
            ]
        with m.If(self.clear):
            m.d.sync += self.bias.eq(0)
        with m.If(arrived):
            m.d.sync += [word.eq(self.weights.data), left.eq(groups + requantizer.LATENCY)]
        return m
