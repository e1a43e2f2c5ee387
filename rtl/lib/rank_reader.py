# SPDX-License-Identifier: BSD-2-Clause
"""Reads the ranks of rows whose vertices do not lie where their ranks would have them."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from hypercast.rtl.config import Config
from hypercast.rtl.isa import PANELS_WIDTH, RANK_WIDTH, ROWS_WIDTH
from hypercast.rtl.lib.burst_reader import WordSource
from hypercast.rtl.lib.unpacker import Unpacker

__all__ = ["RankReader"]


class RankReader(wiring.Component):
    """Reads a list of ranks, once for each panel of a matrix.

    A board that has some rows of a graph says by such a list which vertices they are of, so that
    dropout is the same wherever they lie.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        Begins; not while ranks of an earlier start are left, and only if there are rows.
    rows : In(ROWS_WIDTH), address : In(address_width)
        Ranks of the list, and its first word, in channel 1; constant from ``start`` until the last
        rank is taken.
    panels : In(PANELS_WIDTH)
        How often it is read; may be 0. Valid with ``start``.
    source : Out(WordSource(config))
        Brings the words.
    o : Out(stream of RANK_WIDTH bits)
        The ranks of all rows, again for each panel.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "rows": In(ROWS_WIDTH),
            "panels": In(PANELS_WIDTH),
            "address": In(config.address_width),
            "source": Out(WordSource(config)),
            "o": Out(stream.Signature(RANK_WIDTH)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config, command = self._config, self.source.command
        m.submodules.unpacker = unpacker = Unpacker(config.word_width, RANK_WIDTH)
        wiring.connect(m, wiring.flipped(self.source.words), unpacker.i)
        wiring.connect(m, unpacker.o, wiring.flipped(self.o))

        panels = Signal.like(self.panels)  # that have no command yet
        m.d.comb += [
            command.valid.eq(panels != 0),
            command.p.channel.eq(1),
            command.p.address.eq(self.address),
            command.p.count.eq(
                (self.rows + (config.ranks_in_word - 1)) >> exact_log2(config.ranks_in_word)),
        ]
        left = Signal.like(self.rows)  # ranks of the list still to be taken
        with m.If(self.start):
            m.d.sync += [panels.eq(self.panels), left.eq(self.rows)]
        with m.Else():
            with m.If(command.valid & command.ready):
                m.d.sync += panels.eq(panels - 1)
            with m.If(self.o.valid & self.o.ready):
                m.d.comb += unpacker.flush.eq(left == 1)  # lists begin with a word
                with m.If(left == 1):
                    m.d.sync += left.eq(self.rows)
                with m.Else():
                    m.d.sync += left.eq(left - 1)
        return m
