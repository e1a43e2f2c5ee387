"""Second pass of LOSS over a row: exponentials and their sum."""

from operator import add, or_

from amaranth.hdl import C, Cat, Module, Mux, Signal, signed, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl import isa
from hypercast.rtl.vector.credit_fifo import CreditFIFO
from hypercast.rtl.vector.exponential import Exponential
from hypercast.rtl.vector.loss_layouts import maximum_row, panel_limit, summed_row
from hypercast.rtl.vector.pipeline import delayed, tree, tree_latency

__all__ = ["Exponentials", "exponential_word"]


def exponential_word(config):
    """Layout: a panel of exponentials with 16 fraction bits."""
    return data.ArrayLayout(unsigned(17), config.lanes)


class Exponentials(wiring.Component):
    """Computes the exponentials of each row, relative to its maximum, one panel per cycle.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    panels : In(9), classes : In(10), shift : In(6), train : In(1)
        As in the instruction (``shift`` is its ``aux_shift``); held while rows are under way.
    i : In(stream of maximum_row(config))
        The rows.
    logits : In(stream of data_width)
        Their panels, except of rows of split NONE.
    powers : Out(stream of exponential_word(config))
        The exponentials of rows of split TRAIN, with ``train``, panel by panel; zero in lanes
        beyond the classes.
    o : Out(stream of summed_row(config))
        Results, one per row; of split NONE with meaningless numbers. Follows the row's panels.
    """

    #: Rows under way or waiting to be taken.
    _ROWS = 16
    #: Panels that follow while a row's sum is under way, up to its reciprocal.
    _FOLLOWING = 32

    def __init__(self, config):
        self._config = config
        super().__init__({
            "panels": In(9),
            "classes": In(10),
            "shift": In(6),
            "train": In(1),
            "i": In(stream.Signature(maximum_row(config))),
            "logits": In(stream.Signature(config.data_width)),
            "powers": Out(stream.Signature(exponential_word(config))),
            "o": Out(stream.Signature(summed_row(config))),
        })

    def elaborate(self, platform):
        m = Module()
        config = self._config
        lanes = range(config.lanes)
        m.submodules.exponential = exponential = Exponential(config)
        m.submodules.results = results = CreditFIFO(summed_row(config), self._ROWS)
        # A row's panels wait here for its sum, so that the longest row must fit.
        m.submodules.waiting = waiting = CreditFIFO(
            exponential_word(config), panel_limit(config) + self._FOLLOWING)
        connect(m, results.o, flipped(self.o))
        connect(m, waiting.o, flipped(self.powers))

        # Rows nobody needs pass as a single empty step, to keep the order.
        step = Signal(data.StructLayout({
            "fire": unsigned(1), "first": unsigned(1), "last": unsigned(1), "kept": unsigned(1),
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
        elements = data.ArrayLayout(signed(config.element_width), config.lanes)
        logits = elements(self.logits.payload)
        counts, own = Signal(config.lanes), Signal(config.lanes)
        for lane in lanes:
            number = Cat(C(lane, lane_bits), panel)
            m.d.sync += exponential.i[lane].eq(self.i.p.maximum - logits[lane])
            m.d.comb += [
                counts[lane].eq(number < self.classes),
                own[lane].eq(number == self.i.p.label),
            ]
        m.d.comb += exponential.shift.eq(self.shift)

        latency = 1 + exponential.LATENCY
        counts = delayed(m, counts, latency)
        powers = Signal(exponential_word(config))
        m.d.comb += [powers[lane].eq(Mux(counts[lane], exponential.o[lane], 0)) for lane in lanes]
        ended = delayed(m, step, latency)
        m.d.comb += [
            waiting.push.eq(ended.fire & ended.kept),
            waiting.i.eq(powers),
        ]

        # Sum of the row, and the label's distance, which is known earlier and waits.
        own = delayed(m, own, 1 + exponential.BITS_LATENCY)
        panel_own = tree(
            m, (Mux(own[lane], exponential.bits[lane], 0) for lane in lanes), or_)
        panel_own = delayed(m, panel_own, exponential.LATENCY - exponential.BITS_LATENCY)
        panel_total = tree(m, powers, add)
        summed = delayed(m, ended, tree_latency(config.lanes))
        row = results.i
        row_total, row_own = Signal.like(row.total), Signal.like(row.own)
        m.d.comb += [
            row.total.eq(Mux(summed.first, 0, row_total) + panel_total),
            row.own.eq(Mux(summed.first, 0, row_own) | panel_own),
            row.label.eq(summed.row.label),
            row.split.eq(summed.row.split),
            row.hit.eq(summed.row.hit),
            results.push.eq(summed.fire & summed.last),
        ]
        with m.If(summed.fire):
            m.d.sync += [row_total.eq(row.total), row_own.eq(row.own)]
        return m
