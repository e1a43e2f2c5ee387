"""Dropout masks for the words of a matrix, in the order in which they are read."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.array.array_job import ArrayJob
from hypercast.rtl.vector.dropout import Dropout

__all__ = ["KeepMasks"]


class KeepMasks(wiring.Component):
    """Streams ``arithmetic.keep_mask`` for every row of a panel, of the next panel, and so on.

    The masks do not depend on data, so they are computed ahead: the first is there
    ``Dropout.LATENCY`` + 1 cycles after ``start``, then one per cycle. The stream does not end; the
    next ``start`` replaces it.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        Begins with row ``row_start`` of panel ``panel``.
    job : In(ArrayJob)
        Constant from ``start`` until the last mask is taken. Without ``dropout`` all masks are ones
        at once.
    core : In(dimensions)
        Address of this core; with the row it gives the vertex' rank (``placement.rank_of``).
    o : Out(stream of lanes)
        Bit ``i`` is high if element ``i`` is kept.
    """

    def __init__(self, config):
        self._config = config
        super().__init__({
            "start": In(1),
            "job": In(ArrayJob),
            "core": In(config.dimensions),
            "o": Out(stream.Signature(config.lanes)),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.dropout = dropout = Dropout(self._config)
        job = self.job

        missing = Signal(range(dropout.LATENCY + 1))  # masks until the first one is out
        row = Signal(20)
        rest = Signal(20)  # rows of the panel, this one included
        panel = Signal(14)
        advance = Signal()
        m.d.comb += [
            advance.eq(job.dropout & ((missing != 0) | self.o.ready)),
            dropout.enable.eq(advance),
            dropout.key.eq(job.key),
            dropout.threshold.eq(job.threshold),
            dropout.rank.eq(Cat(self.core ^ row[0].replicate(self._config.dimensions), row)),
            dropout.panel.eq(panel),
            self.o.valid.eq(~job.dropout | (missing == 0)),
            self.o.payload.eq(dropout.keep | (~job.dropout).replicate(self._config.lanes)),
        ]
        with m.If(self.start):
            m.d.sync += [
                missing.eq(dropout.LATENCY),
                row.eq(job.row_start),
                rest.eq(job.rows),
                panel.eq(job.panel),
            ]
        with m.Elif(advance):
            with m.If(missing != 0):
                m.d.sync += missing.eq(missing - 1)
            with m.If(rest == 1):
                m.d.sync += [row.eq(job.row_start), rest.eq(job.rows), panel.eq(panel + 1)]
            with m.Else():
                m.d.sync += [row.eq(row + 1), rest.eq(rest - 1)]
        return m
