# SPDX-License-Identifier: BSD-2-Clause
"""Second pass of LOSS over a row: exponentials and their sum."""

from operator import add

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl import isa
from hypercast.rtl.config import Config
from hypercast.rtl.isa import CLASSES_WIDTH, SHIFT_WIDTH
from hypercast.rtl.limits import group_size, row_interval
from hypercast.rtl.vector.credit_fifo import CreditFIFO
from hypercast.rtl.vector.exponential import Exponential
from hypercast.rtl.vector.logarithm import Logarithm
from hypercast.rtl.vector.loss_layouts import (
    exponential_group,
    group_limit,
    labelled_group,
    maximum_row,
    summed_row,
)
from hypercast.rtl.vector.pipeline import delay_by, popcount, tree, tree_latency

__all__ = ["Exponentials"]


class Exponentials(wiring.Component):
    """Computes the exponentials of each row, relative to its maximum, one group per cycle.

    Sigmoids' exponentials are relative to zero, and the sum adds up the logarithms of one plus
    each.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    groups : In(range(group_limit(config) + 1))
        Groups of a row, at least 1; held while rows are under way.
    classes : In(CLASSES_WIDTH), shift : In(SHIFT_WIDTH), train : In(1), sigmoid : In(1)
        As in the instruction (``shift`` is its ``aux_shift``); held while rows are under way.
    i : In(stream of maximum_row(config))
        The rows.
    logits : In(stream of labelled_group(config))
        The logits' groups, except of rows of split NONE.
    powers : Out(stream of exponential_group(config))
        The exponentials of rows of split TRAIN, with ``train``, group by group; zero in lanes
        beyond the classes.
    o : Out(stream of summed_row(config))
        Results, one per row; of split NONE with meaningless numbers. Follows the row's groups.
    fault : Out(1)
        High while an entry of a table that was read had changed.
    """

    #: Rows under way or waiting to be taken, and how many are enough if few are taken.
    _ROWS, _FEWEST_ROWS = 20, 4
    #: Groups that follow while a row's sum is under way, up to its reciprocal.
    _FOLLOWING = 32

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "groups": In(range(group_limit(config) + 1)),
            "classes": In(CLASSES_WIDTH),
            "shift": In(SHIFT_WIDTH),
            "train": In(1),
            "sigmoid": In(1),
            "i": In(stream.Signature(maximum_row(config))),
            "logits": In(stream.Signature(labelled_group(config))),
            "powers": Out(stream.Signature(exponential_group(config))),
            "o": Out(stream.Signature(summed_row(config))),
            "fault": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        lanes = group_size(config)
        m.submodules.exponential = exponential = Exponential(lanes, config.element_width)
        m.submodules.results = results = CreditFIFO(
            summed_row(config), max(self._ROWS // row_interval(config), self._FEWEST_ROWS))
        # A row's groups wait here for its sum, so that the longest row must fit.
        m.submodules.waiting = waiting = CreditFIFO(
            exponential_group(config), group_limit(config) + self._FOLLOWING)
        connect(m, results.o, flipped(self.o))
        connect(m, waiting.o, flipped(self.powers))

        # Rows nobody needs pass as a single empty step, to keep the order.
        step = Signal(data.StructLayout({
            "fire": unsigned(1), "first": unsigned(1), "last": unsigned(1), "kept": unsigned(1),
            "correct": range(lanes + 1), "wrong": range(lanes + 1),
            "row": maximum_row(config)}))
        group = Signal.like(self.groups)
        used = Signal()
        m.d.comb += [
            used.eq(self.i.p.split != isa.Split.NONE),
            step.row.eq(self.i.payload),
            step.kept.eq(self.train & (self.i.p.split == isa.Split.TRAIN)),
            step.first.eq(group == 0),
            step.last.eq(~used | (group == self.groups - 1)),
            step.fire.eq(self.i.valid & (self.logits.valid | ~used)
                         & (results.credit | ~step.last) & (waiting.credit | ~step.kept)),
            self.i.ready.eq(step.fire & step.last),
            self.logits.ready.eq(step.fire & used),
            results.take.eq(step.fire & step.last),
            waiting.take.eq(step.fire & step.kept),
        ]
        with m.If(step.fire):
            m.d.sync += group.eq(Mux(step.last, 0, group + 1))

        # One cycle for the distances, then the exponentials.
        lane_bits = lanes.bit_length() - 1
        logits, bits = self.logits.p.logits, self.logits.p.bits
        counts, positive, own = (Signal(lanes, name=name)
                                 for name in ("counts", "positive", "own"))
        for lane in range(lanes):
            number = Cat(C(lane, lane_bits), group)
            # From the maximum or, for sigmoids, from zero: the inverse and a carry are added.
            above = Mux(self.sigmoid, 0, self.i.p.maximum)
            inverted = ~self.sigmoid | logits[lane][-1]
            distance = Cat(1, above) + Cat(
                inverted, logits[lane].as_unsigned() ^ inverted.replicate(config.element_width))
            m.d.sync += exponential.i[lane].eq(distance[1:])
            m.d.comb += [
                counts[lane].eq(number < self.classes),
                positive[lane].eq(logits[lane] > 0),
                own[lane].eq(counts[lane] & Mux(
                    self.sigmoid, positive[lane] ^ bits[lane], number == self.i.p.label)),
            ]
        m.d.comb += [
            exponential.shift.eq(self.shift),
            step.correct.eq(popcount(counts & positive & bits)),
            step.wrong.eq(Mux(self.sigmoid, popcount(own), 0)),
        ]

        latency = 1 + exponential.LATENCY
        known, negative = delay_by(m, counts, latency), delay_by(m, positive, latency)
        subtracted = delay_by(m, own, latency)
        powers = Signal(exponential_group(config))
        for lane in range(lanes):
            m.d.comb += [
                powers[lane].power.eq(Mux(known[lane], exponential.o[lane], 0)),
                powers[lane].own.eq(subtracted[lane]),
                powers[lane].negative.eq(self.sigmoid & negative[lane]),
            ]
        ended = delay_by(m, step, latency)
        m.d.comb += [
            waiting.push.eq(ended.fire & ended.kept),
            waiting.i.eq(powers),
        ]

        # What is summed up: the exponentials or, later, the logarithms; and distances, which are
        # known earlier and wait.
        def awaited(value: Value) -> Value:
            return Mux(self.sigmoid, delay_by(m, value, Logarithm.LATENCY), value)

        summands, faults = [], [exponential.fault]
        for lane in range(lanes):
            m.submodules[f"logarithm_{lane}"] = logarithm = Logarithm()
            faults.append(logarithm.fault)
            m.d.comb += logarithm.i.eq(powers[lane].power)
            summands.append(Mux(self.sigmoid, logarithm.o, powers[lane].power))
        group_total = tree(m, summands, add)
        own = delay_by(m, own, 1 + exponential.BITS_LATENCY)
        distances = (Mux(*pair, 0) for pair in zip(own, exponential.bits, strict=True))
        group_own = tree(m, distances, add)
        group_own = awaited(delay_by(m, group_own, exponential.LATENCY - exponential.BITS_LATENCY))

        # Sums of the row.
        summed = step.shape()(awaited(delay_by(m, ended, tree_latency(lanes)).as_value()))
        row = results.i
        sums = {"total": group_total, "own": group_own, "correct": summed.correct,
                "wrong": summed.wrong}
        for name, value in sums.items():
            before = Signal.like(row[name], name=f"row_{name}")
            m.d.comb += row[name].eq(value + Mux(summed.first, 0, before))
            with m.If(summed.fire):
                m.d.sync += before.eq(row[name])
        with m.If(~self.sigmoid):
            m.d.comb += row.correct.eq(summed.row.hit)
        m.d.comb += [
            row.split.eq(summed.row.split),
            row.weight.eq(summed.row.weight),
            results.push.eq(summed.fire & summed.last),
            self.fault.eq(Cat(faults).any()),
        ]
        return m
