# SPDX-License-Identifier: BSD-2-Clause
"""Streams the words of a matrix of which only non-zero words are stored."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from hypercast.rtl.array.array_job import ArrayJob
from hypercast.rtl.array.left_word import left_word
from hypercast.rtl.array.panel_index import PanelIndex
from hypercast.rtl.array.row_unpacker import RowUnpacker
from hypercast.rtl.config import Config
from hypercast.rtl.lib.burst_reader import WordSource, read_command

__all__ = ["SparsePanels"]

#: Panels of which words can be under way.
_PANELS = 16


class SparsePanels(wiring.Component):
    """Numbers the stored words of panel 0, 1, ... of a word-sparse matrix.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        Begins; not while words of an earlier start are left.
    job : In(ArrayJob)
        Constant from ``start`` until the last word is taken. ``address`` is the index's address.
    commands : Out(stream of read_command(config)), words : In(stream of word_width)
        To and from the reader.
    o : Out(stream of left_word(config))
        The words.
    index : Out(WordSource(config))
        Brings the words of the index.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "job": In(ArrayJob),
            "commands": Out(stream.Signature(read_command(config))),
            "words": In(stream.Signature(config.word_width)),
            "o": Out(stream.Signature(left_word(config))),
            "index": Out(WordSource(config)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.panel_index = index = PanelIndex(self._config)
        m.submodules.lengths = lengths = SyncFIFO(
            width=len(index.o.p.count), depth=_PANELS)
        m.submodules.unpacker = unpacker = RowUnpacker(self._config)
        wiring.connect(m, index.source, wiring.flipped(self.index))
        wiring.connect(m, wiring.flipped(self.words), unpacker.i)
        wiring.connect(m, lengths.r_stream, unpacker.lengths)
        # Rows in memory count from the job's first one.
        m.d.comb += [
            self.o.valid.eq(unpacker.o.valid),
            self.o.p.eq(unpacker.o.p),
            self.o.p.row.eq(unpacker.o.p.row + self.job.row_start),
            unpacker.o.ready.eq(self.o.ready),
        ]

        # A panel's command goes to the reader and its length to the unpacker in the same cycle.
        m.d.comb += [
            index.start.eq(self.start),
            index.panels.eq(self.job.panels),
            index.address.eq(self.job.address),
            self.commands.valid.eq(index.o.valid & lengths.w_rdy),
            self.commands.p.eq(index.o.p),
            index.o.ready.eq(self.commands.ready & lengths.w_rdy),
            lengths.w_en.eq(index.o.valid & self.commands.ready),
            lengths.w_data.eq(index.o.p.count),
        ]
        return m
