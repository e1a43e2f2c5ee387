# SPDX-License-Identifier: BSD-2-Clause
"""Dropout masks for the words of a matrix, in the order in which they are read."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.array.array_job import ArrayJob
from hypercast.rtl.config import Config
from hypercast.rtl.isa import PANELS_WIDTH, RANK_WIDTH, ROWS_WIDTH
from hypercast.rtl.lib.dropout import Dropout

__all__ = ["KeepMasks", "place"]

#: Where a word lies: its local row and, as dropout calls it, its panel.
place = data.StructLayout({"row": ROWS_WIDTH, "panel": PANELS_WIDTH})


class KeepMasks(wiring.Component):
    """Streams ``arithmetic.keep_mask`` of the places it is given.

    One per cycle; a mask is there ``Dropout.LATENCY`` cycles after its place.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        Forgets all masks of places taken before.
    job : In(ArrayJob)
        Gives key and threshold; constant from ``start`` until the last mask is taken. Without
        ``dropout``, places mean nothing, and all masks are ones at once and without end.
    core : In(dimensions)
        Address of this core; with the row it gives the vertex' rank (``placement.rank_of``) if the
        job is not ``ranked``.
    i : In(stream of place)
        Places; not in the cycle of ``start``.
    ranks : In(stream of RANK_WIDTH bits)
        The vertices' ranks, one for each place; taken if the job has dropout and is ``ranked``.
    o : Out(stream of lanes)
        Bit ``i`` is high if element ``i`` is kept.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "job": In(ArrayJob),
            "core": In(config.dimensions),
            "i": In(stream.Signature(place)),
            "ranks": In(stream.Signature(RANK_WIDTH)),
            "o": Out(stream.Signature(config.lanes)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.dropout = dropout = Dropout(self._config)
        job, row = self.job, self.i.p.row

        full = Signal(dropout.LATENCY)  # stages that hold a mask, the last one highest
        advance = Signal()
        known = Signal()  # the rank of the next place
        m.d.comb += [
            advance.eq(job.dropout & (~full[-1] | self.o.ready)),
            dropout.enable.eq(advance),
            dropout.key.eq(job.key),
            dropout.threshold.eq(job.threshold),
            dropout.rank.eq(Mux(
                job.ranked, self.ranks.payload,
                Cat(self.core ^ row[0].replicate(self._config.dimensions), row))),
            dropout.panel.eq(self.i.p.panel),
            known.eq(~job.ranked | self.ranks.valid),
            self.i.ready.eq(~job.dropout | (advance & known)),
            self.ranks.ready.eq(advance & job.ranked & self.i.valid),
            self.o.valid.eq(~job.dropout | full[-1]),
            self.o.payload.eq(dropout.keep | (~job.dropout).replicate(self._config.lanes)),
        ]
        with m.If(self.start):
            m.d.sync += full.eq(0)
        with m.Elif(advance):
            m.d.sync += full.eq(Cat(self.i.valid & known, full))
        return m
