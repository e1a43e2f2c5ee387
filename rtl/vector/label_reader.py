# SPDX-License-Identifier: BSD-2-Clause
"""Reads what LOSS has to know of vertices besides their logits."""

from amaranth.hdl import Module, Mux, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.isa import LOSS_PANELS_WIDTH, LOSS_WEIGHT_ONE, RECORD_WIDTH, ROWS_WIDTH
from hypercast.rtl.lib.burst_reader import WordSource
from hypercast.rtl.vector.loss_layouts import (
    WEIGHT_WIDTH,
    LabelRecord,
    RowLabel,
    panel_limit,
)

__all__ = ["LabelReader"]


class LabelReader(wiring.Component):
    """Takes a list of labels apart; see "label list" in ``docs/blocks.md``.

    The list is blocks of ``config.info_rows`` rows: a word of label records; with ``weighted``, a
    word of weights; with ``sigmoid``, the words of their labels' bits.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        High for a cycle to begin; only while not ``busy``, and when all rows have been taken.
    rows : In(ROWS_WIDTH), panels : In(LOSS_PANELS_WIDTH), address : In(address_width)
    sigmoid : In(1), weighted : In(1)
        The list, in channel 1; valid with ``start`` and held until the last row has been taken.
    busy : Out(1)
        High from the cycle after ``start`` until the list's last word has been taken from
        ``source``.
    source : Out(WordSource(config))
        Brings the words.
    labels : Out(stream of RowLabel)
        One per row. Its weight is one without ``weighted``.
    bits : Out(stream of lanes)
        Panel 0, 1, ... of the first row, then of the next row: which of the panel's classes it
        has. Without ``sigmoid`` always valid, and zero.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "rows": In(ROWS_WIDTH),
            "panels": In(LOSS_PANELS_WIDTH),
            "address": In(config.address_width),
            "sigmoid": In(1),
            "weighted": In(1),
            "busy": Out(1),
            "source": Out(WordSource(config)),
            "labels": Out(stream.Signature(RowLabel)),
            "bits": Out(stream.Signature(config.lanes)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        command, words = self.source.command, self.source.words
        # One command for all blocks.
        most_blocks = (1 << len(self.rows)) // config.info_rows
        blocks = Signal(range(most_blocks + 1))
        others = Signal(range(1 + panel_limit(config) + 1))  # words of a block but the first
        m.d.comb += [
            blocks.eq((self.rows + (config.info_rows - 1)) // config.info_rows),
            others.eq(self.weighted + Mux(self.sigmoid, self.panels, 0)),
            command.p.channel.eq(1),
            command.p.address.eq(self.address),
            command.p.count.eq(blocks * (others + 1)),
        ]
        with m.If(command.ready):
            m.d.sync += command.valid.eq(0)
        with m.If(self.start):
            m.d.sync += command.valid.eq(self.rows != 0)

        # Words go where they belong; words of the last block behind the last row go nowhere.
        place = Signal.like(others)
        untaken, unread = Signal.like(self.rows), Signal.like(blocks)
        is_head, last, over, accept = Signal(), Signal(), Signal(), Signal()
        head_free, bits_free = Signal(), Signal()
        m.d.comb += [
            self.busy.eq(unread != 0),
            over.eq(untaken == 0),
            is_head.eq(place <= self.weighted),
            last.eq(place == others),
            words.ready.eq(over | Mux(is_head, head_free, bits_free)),
            accept.eq(words.valid & words.ready & ~over),
        ]
        with m.If(words.valid & words.ready):
            m.d.sync += place.eq(Mux(last, 0, place + 1))
            with m.If(last):
                m.d.sync += unread.eq(unread - 1)

        # A block's records and weights. The next block's step aside for its bits.
        head = Signal(data.StructLayout({
            "records": data.ArrayLayout(LabelRecord, config.info_rows),
            "weights": data.ArrayLayout(unsigned(WEIGHT_WIDTH), config.info_rows)}))
        next_head = Signal.like(head)
        held, next_held, taken = Signal(), Signal(), Signal()
        row = Signal(range(config.info_rows))
        m.d.comb += [
            head_free.eq(~next_held),
            taken.eq(self.labels.valid & self.labels.ready),
            self.labels.valid.eq(held),
            self.labels.p.label.eq(head.records[row].label),
            self.labels.p.split.eq(head.records[row].split),
            self.labels.p.weight.eq(Mux(self.weighted, head.weights[row], LOSS_WEIGHT_ONE)),
        ]
        with m.If(accept & is_head):
            m.d.sync += next_held.eq(place == self.weighted)
            with m.If(place == 0):
                m.d.sync += next_head.records.eq(words.payload)
            with m.Else():
                m.d.sync += next_head.weights.eq(words.payload)
        with m.If(taken):
            m.d.sync += [row.eq(row + 1), untaken.eq(untaken - 1)]
        with m.If(~held | (taken & (row == config.info_rows - 1))):
            m.d.sync += [held.eq(next_held), head.eq(next_head)]
            with m.If(next_held):
                m.d.sync += next_held.eq(0)

        # A word of bits.
        bits = Signal(data.ArrayLayout(unsigned(RECORD_WIDTH), config.info_rows))
        bits_held, bits_taken = Signal(), Signal()
        panel = Signal(range(config.info_rows))
        m.d.comb += [
            bits_taken.eq(bits_held & self.bits.ready),
            bits_free.eq(~bits_held | (bits_taken & (panel == config.info_rows - 1))),
            self.bits.valid.eq(bits_held | ~self.sigmoid),
            self.bits.payload.eq(Mux(self.sigmoid, bits[panel], 0)),
        ]
        with m.If(bits_taken):
            m.d.sync += panel.eq(panel + 1)
        with m.If(bits_free):
            m.d.sync += [bits_held.eq(accept & ~is_head), bits.eq(words.payload)]

        with m.If(self.start):
            m.d.sync += [
                untaken.eq(self.rows),
                unread.eq(blocks),
                place.eq(0),
                row.eq(0),
                panel.eq(0),
                held.eq(0),
                next_held.eq(0),
                bits_held.eq(0),
            ]
        return m
