"""Reads the right operand of a GRADIENT."""

from amaranth.hdl import Module, Mux
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.array.array_job import ArrayJob
from hypercast.rtl.array.panel_commands import PanelCommands
from hypercast.rtl.array.panel_rows import place
from hypercast.rtl.layouts import ReadPort
from hypercast.rtl.lib.burst_reader import BurstReader

__all__ = ["RightOperand"]


class RightOperand(wiring.Component):
    """Streams the words of one panel again and again, or those of the rows that it is given.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        Begins; not while words of an earlier start are left.
    job : In(ArrayJob)
        Constant from ``start`` until the last word is taken. Without ``gradient``, nothing is read.
    places : In(stream of place)
        Rows to read if the job is ``sparse``; else always ready.
    o : Out(stream of word_width)
        The words.
    port : Out(ReadPort(config))
        Memory access.
    """

    def __init__(self, config):
        self._config = config
        super().__init__({
            "start": In(1),
            "job": In(ArrayJob),
            "places": In(stream.Signature(place)),
            "o": Out(stream.Signature(config.word_width)),
            "port": Out(ReadPort(config)),
        })

    def elaborate(self, platform):
        m = Module()
        job = self.job
        m.submodules.reader = reader = BurstReader(self._config)
        m.submodules.panels = panels = PanelCommands(self._config)
        wiring.connect(m, reader.port, wiring.flipped(self.port))
        wiring.connect(m, reader.o, wiring.flipped(self.o))
        m.d.comb += [
            panels.start.eq(self.start & job.gradient & ~job.sparse),
            panels.rows.eq(job.rows),
            panels.panels.eq(job.panels),
            panels.channel.eq(1),
            panels.stride.eq(0),
            panels.address.eq(job.gradient_address),
        ]
        gather = job.gradient & job.sparse
        command = reader.command
        m.d.comb += [
            command.valid.eq(Mux(gather, self.places.valid, panels.o.valid)),
            command.p.eq(panels.o.p),
            panels.o.ready.eq(~gather & command.ready),
            self.places.ready.eq(~gather | command.ready),
        ]
        with m.If(gather):
            m.d.comb += [
                command.p.channel.eq(1),
                command.p.address.eq(job.gradient_address + self.places.p.row),
                command.p.count.eq(1),
            ]
        return m
