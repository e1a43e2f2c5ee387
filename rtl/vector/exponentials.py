"""Second pass of LOSS over a row: exponentials and their sum."""

from operator import add

from amaranth.hdl import C, Cat, Module, Mux, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl import isa
from hypercast.rtl.vector.credit_fifo import CreditFIFO
from hypercast.rtl.vector.exponential import Exponential
from hypercast.rtl.vector.logarithm import Logarithm
from hypercast.rtl.vector.loss_layouts import (
    exponential_word,
    labelled_word,
    maximum_row,
    panel_limit,
    summed_row,
)
from hypercast.rtl.vector.normalizer import row_interval
from hypercast.rtl.vector.pipeline import delayed, popcount, tree, tree_latency

__all__ = ["Exponentials"]


class Exponentials(wiring.Component):
    """Computes the exponentials of each row, relative to its maximum, one panel per cycle.

    Those of sigmoids are relative to zero, and what is summed up are the logarithms of one plus
    each.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    panels : In(9), classes : In(10), shift : In(6), train : In(1), sigmoid : In(1)
        As in the instruction (``shift`` is its ``aux_shift``); held while rows are under way.
    i : In(stream of maximum_row(config))
        The rows.
    logits : In(stream of labelled_word(config))
        Their panels, except of rows of split NONE.
    powers : Out(stream of exponential_word(config))
        The exponentials of rows of split TRAIN, with ``train``, panel by panel; zero in lanes
        beyond the classes.
    o : Out(stream of summed_row(config))
        Results, one per row; of split NONE with meaningless numbers. Follows the row's panels.
    """

    #: Rows under way or waiting to be taken, and how many are enough if few are taken.
    _ROWS, _FEWEST_ROWS = 20, 4
    #: Panels that follow while a row's sum is under way, up to its reciprocal.
    _FOLLOWING = 32

    def __init__(self, config):
        self._config = config
        super().__init__({
            "panels": In(9),
            "classes": In(10),
            "shift": In(6),
            "train": In(1),
            "sigmoid": In(1),
            "i": In(stream.Signature(maximum_row(config))),
            "logits": In(stream.Signature(labelled_word(config))),
            "powers": Out(stream.Signature(exponential_word(config))),
            "o": Out(stream.Signature(summed_row(config))),
        })

    def elaborate(self, platform):
        m = Module()
        config = self._config
        lanes = range(config.lanes)
        m.submodules.exponential = exponential = Exponential(config)
        m.submodules.results = results = CreditFIFO(
            summed_row(config), max(self._ROWS // row_interval(config), self._FEWEST_ROWS))
        # A row's panels wait here for its sum, so that the longest row must fit.
        m.submodules.waiting = waiting = CreditFIFO(
            exponential_word(config), panel_limit(config) + self._FOLLOWING)
        connect(m, results.o, flipped(self.o))
        connect(m, waiting.o, flipped(self.powers))

        # Rows nobody needs pass as a single empty step, to keep the order.
        step = Signal(data.StructLayout({
            "fire": unsigned(1), "first": unsigned(1), "last": unsigned(1), "kept": unsigned(1),
            "correct": range(config.lanes + 1), "wrong": range(config.lanes + 1),
            "row": maximum_row(config)}))
        panel = Signal.like(self.panels)
        used = Signal()
        m.d.comb += [
            used.eq(self.i.p.split != isa.Split.NONE),
            step.row.eq(self.i.payload),
            step.kept.eq(self.train & (self.i.p.split == isa.Split.TRAIN)),
            step.first.eq(panel == 0),
            step.last.eq(~used | (panel == self.panels - 1)),
            step.fire.eq(self.i.valid & (self.logits.valid | ~used)
                         & (results.credit | ~step.last) & (waiting.credit | ~step.kept)),
            self.i.ready.eq(step.fire & step.last),
            self.logits.ready.eq(step.fire & used),
            results.take.eq(step.fire & step.last),
            waiting.take.eq(step.fire & step.kept),
        ]
        with m.If(step.fire):
            m.d.sync += panel.eq(Mux(step.last, 0, panel + 1))

        # One cycle for the distances, then the exponentials.
        lane_bits = config.lanes.bit_length() - 1
        logits, bits = self.logits.p.logits, self.logits.p.bits
        counts, positive, own = (Signal(config.lanes, name=name)
                                 for name in ("counts", "positive", "own"))
        for lane in lanes:
            number = Cat(C(lane, lane_bits), panel)
            above = Mux(self.sigmoid, 0, self.i.p.maximum)
            m.d.sync += exponential.i[lane].eq(
                Mux(self.sigmoid & positive[lane], logits[lane], above - logits[lane]))
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
        known, negative = delayed(m, counts, latency), delayed(m, positive, latency)
        subtracted = delayed(m, own, latency)
        powers = Signal(exponential_word(config))
        for lane in lanes:
            m.d.comb += [
                powers[lane].power.eq(Mux(known[lane], exponential.o[lane], 0)),
                powers[lane].own.eq(subtracted[lane]),
                powers[lane].negative.eq(self.sigmoid & negative[lane]),
            ]
        ended = delayed(m, step, latency)
        m.d.comb += [
            waiting.push.eq(ended.fire & ended.kept),
            waiting.i.eq(powers),
        ]

        # What is summed up: the exponentials or, later, the logarithms; and distances, which are
        # known earlier and wait.
        def awaited(value):
            return Mux(self.sigmoid, delayed(m, value, Logarithm.LATENCY), value)

        summands = []
        for lane in lanes:
            m.submodules[f"logarithm_{lane}"] = logarithm = Logarithm()
            m.d.comb += logarithm.i.eq(powers[lane].power)
            summands.append(Mux(self.sigmoid, logarithm.o, powers[lane].power))
        panel_total = tree(m, summands, add)
        own = delayed(m, own, 1 + exponential.BITS_LATENCY)
        panel_own = tree(m, (Mux(own[lane], exponential.bits[lane], 0) for lane in lanes), add)
        panel_own = awaited(delayed(m, panel_own, exponential.LATENCY - exponential.BITS_LATENCY))

        # Sums of the row.
        summed = step.shape()(awaited(delayed(m, ended, tree_latency(config.lanes)).as_value()))
        row = results.i
        sums = {"total": panel_total, "own": panel_own, "correct": summed.correct,
                "wrong": summed.wrong}
        for name, value in sums.items():
            before = Signal.like(row[name], name=f"row_{name}")
            m.d.comb += row[name].eq(Mux(summed.first, 0, before) + value)
            with m.If(summed.fire):
                m.d.sync += before.eq(row[name])
        with m.If(~self.sigmoid):
            m.d.comb += row.correct.eq(summed.row.hit)
        m.d.comb += [
            row.split.eq(summed.row.split),
            row.weight.eq(summed.row.weight),
            results.push.eq(summed.fire & summed.last),
        ]
        return m
