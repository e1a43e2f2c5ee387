"""Reads what LOSS has to know of vertices besides their logits."""

from amaranth.hdl import Module, Mux, ResetInserter, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect

from hypercast.rtl.lib.skid_buffer import SkidBuffer
from hypercast.rtl.lib.unpacker import Unpacker
from hypercast.rtl.vector.loss_layouts import (
    WEIGHT_ONE,
    WEIGHT_WIDTH,
    LabelRecord,
    RowLabel,
    panel_limit,
)
from hypercast.rtl.vector.ports import WordSource

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
    rows : In(20), panels : In(9), address : In(address_width), sigmoid : In(1), weighted : In(1)
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

    def __init__(self, config):
        self._config = config
        super().__init__({
            "start": In(1),
            "rows": In(20),
            "panels": In(9),
            "address": In(config.address_width),
            "sigmoid": In(1),
            "weighted": In(1),
            "busy": Out(1),
            "source": Out(WordSource(config)),
            "labels": Out(stream.Signature(RowLabel)),
            "bits": Out(stream.Signature(config.lanes)),
        })

    def elaborate(self, platform):
        m = Module()
        config = self._config
        command, words = self.source.command, self.source.words
        # What an unpacker has left over when all rows have been taken goes with the next start.
        afresh = ResetInserter(self.start)
        records = Unpacker(config.word_width, LabelRecord.as_shape().size)
        weights = Unpacker(config.word_width, WEIGHT_WIDTH)
        bits = Unpacker(config.word_width, 16)
        m.submodules.records = afresh(records)
        m.submodules.weights = afresh(weights)
        m.submodules.label_bits = afresh(bits)
        # The next block's records and weights step aside for its bits.
        m.submodules.next_records = next_records = SkidBuffer(config.word_width)
        m.submodules.next_weights = next_weights = SkidBuffer(config.word_width)
        connect(m, next_records.o, records.i)
        connect(m, next_weights.o, weights.i)

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

        # Words go where they belong; those of the last block behind the last row go nowhere.
        place = Signal.like(others)
        untaken, unread = Signal.like(self.rows), Signal.like(blocks)
        is_weights, is_bits, over = Signal(), Signal(), Signal()
        last = place == others
        m.d.comb += [
            self.busy.eq(unread != 0),
            over.eq(untaken == 0),
            is_weights.eq(self.weighted & (place == 1)),
            is_bits.eq(place > self.weighted),
            words.ready.eq(over | next_records.i.ready & (place == 0)
                           | next_weights.i.ready & is_weights | bits.i.ready & is_bits),
        ]
        for sink, chosen in (
                (next_records, place == 0), (next_weights, is_weights), (bits, is_bits)):
            m.d.comb += [
                sink.i.payload.eq(words.payload),
                sink.i.valid.eq(words.valid & chosen & ~over),
            ]
        with m.If(words.valid & words.ready):
            m.d.sync += place.eq(Mux(last, 0, place + 1))
            with m.If(last):
                m.d.sync += unread.eq(unread - 1)
        with m.If(self.labels.valid & self.labels.ready):
            m.d.sync += untaken.eq(untaken - 1)
        with m.If(self.start):
            m.d.sync += [untaken.eq(self.rows), unread.eq(blocks), place.eq(0)]

        # Rows leave.
        record = LabelRecord(records.o.payload)
        taken = self.labels.valid & self.labels.ready
        m.d.comb += [
            self.labels.valid.eq(records.o.valid & (weights.o.valid | ~self.weighted)),
            self.labels.p.label.eq(record.label),
            self.labels.p.split.eq(record.split),
            self.labels.p.weight.eq(Mux(self.weighted, weights.o.payload, WEIGHT_ONE)),
            records.o.ready.eq(taken),
            weights.o.ready.eq(taken),
            self.bits.valid.eq(bits.o.valid | ~self.sigmoid),
            self.bits.payload.eq(Mux(self.sigmoid, bits.o.payload[:config.lanes], 0)),
            bits.o.ready.eq(self.bits.ready),
        ]
        return m
