"""Counts the rows of one panel after the other."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.array.array_job import ArrayJob

__all__ = ["PanelRows", "place"]

#: Where a word lies: its local row and, as dropout calls it, its panel.
place = data.StructLayout({"row": 20, "panel": 14})


class PanelRows(wiring.Component):
    """The places of all words of a matrix, in the order in which a dense one is read.

    Members
    -------
    start : In(1)
        Begins with row ``row_start`` of panel ``panel``, whatever was before.
    job : In(ArrayJob)
        Constant from ``start`` on.
    o : Out(stream of place)
        Places; always valid, and without end.
    """

    start: In(1)
    job: In(ArrayJob)
    o: Out(stream.Signature(place, always_valid=True))

    def elaborate(self, platform):
        m = Module()
        job, here = self.job, self.o.p
        rest = Signal(20)  # rows of the panel, this one included
        with m.If(self.start):
            m.d.sync += [here.row.eq(job.row_start), here.panel.eq(job.panel), rest.eq(job.rows)]
        with m.Elif(self.o.ready):
            with m.If(rest == 1):
                m.d.sync += [
                    here.row.eq(job.row_start), here.panel.eq(here.panel + 1), rest.eq(job.rows)]
            with m.Else():
                m.d.sync += [here.row.eq(here.row + 1), rest.eq(rest - 1)]
        return m
