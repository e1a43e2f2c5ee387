# SPDX-License-Identifier: BSD-2-Clause
"""Gives the words of a word-sparse matrix their rows."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.array.left_word import left_word
from hypercast.rtl.config import Config
from hypercast.rtl.isa import ROW_NUMBER_WIDTH

__all__ = ["RowUnpacker"]


class RowUnpacker(wiring.Component):
    """Takes groups of words apart: a memory word of row numbers, then the words of these rows.

    One memory word per cycle; a word leaves in the cycle after it came. The format is in
    ``docs/blocks.md``.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    lengths : In(stream of range(channel_words + 1))
        Memory words of each panel, at least 2.
    i : In(stream of word_width)
        Memory words of the panels.
    o : Out(stream of left_word(config))
        The words.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "lengths": In(stream.Signature(range(config.channel_words + 1))),
            "i": In(stream.Signature(config.word_width)),
            "o": Out(stream.Signature(left_word(config))),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        left = Signal.like(self.lengths.payload)  # memory words of the panel still to come
        last = Signal()
        rows = Signal(self._config.word_width)  # numbers of the rows still to come
        heading = Signal()  # the next memory word holds row numbers
        taken = Signal()
        m.d.comb += [
            last.eq(left == 1),
            heading.eq(rows[:ROW_NUMBER_WIDTH] == 0),  # ends a group of words
            self.i.ready.eq((left != 0) & (heading | ~self.o.valid | self.o.ready)),
            taken.eq(self.i.valid & self.i.ready),
            self.lengths.ready.eq((left == 0) | (taken & last)),
        ]
        with m.If(self.lengths.ready):
            m.d.sync += left.eq(0)
            with m.If(self.lengths.valid):
                m.d.sync += left.eq(self.lengths.payload)
        with m.Elif(taken):
            m.d.sync += left.eq(left - 1)

        with m.If(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        with m.If(taken):
            with m.If(heading):
                m.d.sync += rows.eq(self.i.payload)
            with m.Else():
                m.d.sync += [
                    rows.eq(rows >> ROW_NUMBER_WIDTH),
                    self.o.valid.eq(1),
                    self.o.p.word.eq(self.i.payload),
                    self.o.p.row.eq(rows[:ROW_NUMBER_WIDTH] - 1),
                    self.o.p.last.eq(last),
                ]
        return m
