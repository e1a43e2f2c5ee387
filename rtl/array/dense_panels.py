# SPDX-License-Identifier: BSD-2-Clause
"""Streams the words of a matrix of which all words are stored."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.array.array_job import ArrayJob
from hypercast.rtl.array.left_word import left_word
from hypercast.rtl.array.panel_commands import PanelCommands
from hypercast.rtl.config import Config
from hypercast.rtl.isa import PANELS_WIDTH, ROWS_WIDTH
from hypercast.rtl.lib.burst_reader import read_command

__all__ = ["DensePanels"]


class DensePanels(wiring.Component):
    """Numbers the words of panel 0, 1, ... of a matrix.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        Begins; not while words of an earlier start are left, and only if there are rows.
    job : In(ArrayJob)
        Constant from ``start`` until the last word is taken. With ``ones``, nothing is read; every
        word is a one in lane 0.
    commands : Out(stream of read_command(config)), words : In(stream of word_width)
        To and from the reader.
    o : Out(stream of left_word(config))
        The words.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "job": In(ArrayJob),
            "commands": Out(stream.Signature(read_command(config))),
            "words": In(stream.Signature(config.word_width)),
            "o": Out(stream.Signature(left_word(config))),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        job, o = self.job, self.o
        m.submodules.commands = commands = PanelCommands(self._config)
        wiring.connect(m, commands.o, wiring.flipped(self.commands))

        panels = Signal(PANELS_WIDTH)  # still to come, this one included
        row = Signal(ROWS_WIDTH)     # of the panel, from the job's first row on
        m.d.comb += [
            commands.start.eq(self.start),
            commands.rows.eq(job.rows),
            commands.panels.eq(Mux(job.ones, 0, job.panels)),
            commands.channel.eq(job.channel),
            commands.stride.eq(job.stride),
            commands.address.eq(job.address),
            o.valid.eq((panels != 0) & (self.words.valid | job.ones)),
            o.p.word.eq(Mux(job.ones, 1, self.words.payload)),
            o.p.row.eq(job.row_start + row),
            o.p.last.eq(row + 1 == job.rows),
            self.words.ready.eq(o.ready & ~job.ones),
        ]
        with m.If(self.start):
            m.d.sync += [panels.eq(job.panels), row.eq(0)]
        with m.Elif(o.valid & o.ready):
            m.d.sync += row.eq(row + 1)
            with m.If(o.p.last):
                m.d.sync += [panels.eq(panels - 1), row.eq(0)]
        return m
