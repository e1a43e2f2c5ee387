"""Streams the words of a matrix of which all words are stored."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.array.array_job import ArrayJob
from hypercast.rtl.array.panel_commands import PanelCommands
from hypercast.rtl.array.panel_rows import PanelRows, place
from hypercast.rtl.lib.burst_reader import read_command

__all__ = ["DensePanels", "left_word"]


def left_word(config):
    """Layout of a left operand's word.

    ``row`` counts from the first row of the job, modulo the accumulators' rows; ``last`` marks the
    last word of a panel.
    """
    return data.StructLayout({
        "word": config.data_width, "row": range(config.accumulator_rows), "last": 1})


class DensePanels(wiring.Component):
    """Numbers the words of panel 0, 1, ... of a matrix.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        Begins; not while words of an earlier start are left.
    job : In(ArrayJob)
        Constant from ``start`` until the last word is taken. With ``ones``, nothing is read; every
        word is a one in lane 0.
    commands : Out(stream of read_command(config)), words : In(stream of word_width)
        To and from the reader.
    o : Out(stream of left_word(config))
        The words. With ``ones``, they do not end.
    places : Out(stream of place)
        The same words' places, as far ahead as they are taken; they do not end.
    """

    def __init__(self, config):
        self._config = config
        super().__init__({
            "start": In(1),
            "job": In(ArrayJob),
            "commands": Out(stream.Signature(read_command(config))),
            "words": In(stream.Signature(config.word_width)),
            "o": Out(stream.Signature(left_word(config))),
            "places": Out(stream.Signature(place)),
        })

    def elaborate(self, platform):
        m = Module()
        job, o = self.job, self.o
        m.submodules.panels = panels = PanelCommands(self._config)
        m.submodules.rows = rows = PanelRows()
        wiring.connect(m, panels.o, wiring.flipped(self.commands))

        row = Signal(20)
        m.d.comb += [
            panels.start.eq(self.start),
            panels.rows.eq(job.rows),
            panels.panels.eq(Mux(job.ones, 0, job.panels)),
            panels.channel.eq(job.channel),
            panels.stride.eq(job.stride),
            panels.address.eq(job.address),
            rows.start.eq(self.start),
            rows.job.eq(job),
            self.places.valid.eq(1),
            self.places.p.eq(rows.o.p),
            rows.o.ready.eq(self.places.ready),
            o.valid.eq(self.words.valid | job.ones),
            o.p.word.eq(Mux(job.ones, 1, self.words.payload)),
            o.p.row.eq(row),
            o.p.last.eq(row + 1 == job.rows),
            self.words.ready.eq(o.ready & ~job.ones),
        ]
        with m.If(self.start):
            m.d.sync += row.eq(0)
        with m.Elif(o.valid & o.ready):
            m.d.sync += row.eq(Mux(o.p.last, 0, row + 1))
        return m
