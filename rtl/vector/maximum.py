# SPDX-License-Identifier: BSD-2-Clause
"""First pass of LOSS over a row: the largest logit."""

from amaranth.hdl import C, Cat, Module, Mux, Signal, signed, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl import isa
from hypercast.rtl.config import Config
from hypercast.rtl.isa import CLASSES_WIDTH
from hypercast.rtl.limits import group_size
from hypercast.rtl.vector.credit_fifo import CreditFIFO
from hypercast.rtl.vector.loss_layouts import (
    RowLabel,
    group_limit,
    labelled_group,
    maximum_row,
)
from hypercast.rtl.vector.pipeline import delay_by, tree, tree_latency

__all__ = ["Maximum"]


class Maximum(wiring.Component):
    """Finds each row's largest logit while the row passes by, one group per cycle.

    Rows that have several labels each pass in the same way.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    groups : In(range(group_limit(config) + 1)), classes : In(CLASSES_WIDTH)
        Groups of a row, at least 1, and its logits that count; held while rows are under way.
    i : In(stream of labelled_group(config))
        The groups, row by row.
    labels : In(stream of RowLabel)
        One per row, taken with the row's last group.
    logits : Out(stream of labelled_group(config))
        The groups, except groups of rows of split NONE: nobody needs them.
    o : Out(stream of maximum_row(config))
        Results, one per row, also for split NONE (then with meaningless numbers). A result never
        comes before the row's groups have left through ``logits``.
    """

    #: Rows under way or waiting to be taken.
    _ROWS = 8

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "groups": In(range(group_limit(config) + 1)),
            "classes": In(CLASSES_WIDTH),
            "i": In(stream.Signature(labelled_group(config))),
            "labels": In(stream.Signature(RowLabel)),
            "logits": Out(stream.Signature(labelled_group(config))),
            "o": Out(stream.Signature(maximum_row(config))),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        m.submodules.results = results = CreditFIFO(maximum_row(config), self._ROWS)
        connect(m, results.o, flipped(self.o))

        group = Signal.like(self.groups)
        used, last, possible, fire = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            used.eq(self.labels.p.split != isa.Split.NONE),
            last.eq(group == self.groups - 1),
            possible.eq(self.i.valid & self.labels.valid & (results.credit | ~last)),
            fire.eq(possible & (self.logits.ready | ~used)),
            self.logits.valid.eq(possible & used),
            self.logits.payload.eq(self.i.payload),
            self.i.ready.eq(fire),
            self.labels.ready.eq(fire & last),
            results.take.eq(fire & last),
        ]
        with m.If(fire):
            m.d.sync += group.eq(Mux(last, 0, group + 1))

        # A key holds the logit above the inverted class: the largest key belongs to the first
        # class with the largest logit. Lanes beyond the classes get the least logit and, because
        # their number is larger, lose even against an equal one.
        lanes = group_size(config)
        lane_bits = lanes.bit_length() - 1
        least = -1 << config.element_width - 1
        keys = []
        for lane in range(lanes):
            number = Cat(C(lane, lane_bits), group)
            logit = Mux(number < self.classes, self.i.p.logits[lane],
                        C(least, signed(config.element_width)))
            keys.append(delay_by(m, Cat(~number, logit).as_signed(), 1))
        key = tree(m, keys, lambda a, b: Mux(a > b, a, b))

        shape = data.StructLayout({
            "fire": unsigned(1), "first": unsigned(1), "last": unsigned(1),
            "label": RowLabel})
        tag = Signal(shape)
        m.d.comb += [
            tag.fire.eq(fire),
            tag.first.eq(group == 0),
            tag.last.eq(last),
            tag.label.eq(self.labels.payload),
        ]
        tag = delay_by(m, tag, 1 + tree_latency(lanes))
        best, larger = Signal.like(key), Signal.like(key)
        m.d.comb += larger.eq(Mux(tag.first | (key > best), key, best))
        with m.If(tag.fire):
            m.d.sync += best.eq(larger)
        m.d.comb += [
            results.push.eq(tag.fire & tag.last),
            results.i.label.eq(tag.label.label),
            results.i.split.eq(tag.label.split),
            results.i.weight.eq(tag.label.weight),
            results.i.maximum.eq(larger[-config.element_width:].as_signed()),
            results.i.hit.eq(~larger[:-config.element_width] == tag.label.label),
        ]
        return m
