# SPDX-License-Identifier: BSD-2-Clause
"""Reads where the panels of a word-sparse matrix lie in memory."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from hypercast.rtl.config import Config
from hypercast.rtl.isa import PANELS_WIDTH
from hypercast.rtl.lib.burst_reader import WordSource, read_command
from hypercast.rtl.lib.unpacker import Unpacker

__all__ = ["PanelIndex"]

_ENTRY = data.StructLayout({"address": 32, "words": 32})


class PanelIndex(wiring.Component):
    """Turns the index of a word-sparse matrix into commands that read its panels.

    The index lies in channel 1, the panels in channel 0. The format is in ``docs/blocks.md``.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        Begins; not while commands of an earlier start are left.
    panels : In(PANELS_WIDTH)
        How many entries to read; may be 0. Valid with ``start``.
    address : In(address_width)
        First word of the index. Valid with ``start``.
    o : Out(stream of read_command(config))
        A command for each panel, of at least one word.
    source : Out(WordSource(config))
        Brings the words of the index.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "panels": In(PANELS_WIDTH),
            "address": In(config.address_width),
            "o": Out(stream.Signature(read_command(config))),
            "source": Out(WordSource(config)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        width = self._config.word_width
        m.submodules.unpacker = unpacker = Unpacker(width, _ENTRY.size)
        wiring.connect(m, wiring.flipped(self.source.words), unpacker.i)

        if width < _ENTRY.size:
            words = self.panels * (_ENTRY.size // width)
        else:
            per_word = width // _ENTRY.size
            words = (self.panels + (per_word - 1)) >> exact_log2(per_word)
        command = self.source.command
        m.d.comb += command.p.channel.eq(1)
        with m.If(command.ready):
            m.d.sync += command.valid.eq(0)
        left = Signal(PANELS_WIDTH)  # entries still to come
        with m.If(self.start):
            m.d.sync += [
                command.valid.eq(1),
                command.p.address.eq(self.address),
                command.p.count.eq(words),
                left.eq(self.panels),
            ]
        with m.Elif(self.o.valid & self.o.ready):
            m.d.sync += left.eq(left - 1)

        entry = _ENTRY(unpacker.o.payload)
        m.d.comb += [
            unpacker.flush.eq(self.start),  # the rest of the last index' last word
            self.o.valid.eq(unpacker.o.valid & (left != 0)),
            unpacker.o.ready.eq(self.o.ready & (left != 0)),
            self.o.p.channel.eq(0),
            self.o.p.address.eq(entry.address),
            self.o.p.count.eq(entry.words),
        ]
        return m
