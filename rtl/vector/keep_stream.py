# SPDX-License-Identifier: BSD-2-Clause
"""The dropout decisions of a run of rows."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.isa import (
    KEY_WIDTH,
    PANELS_WIDTH,
    RANK_WIDTH,
    ROWS_WIDTH,
    STRIP_WIDTH,
    THRESHOLD_WIDTH,
)
from hypercast.rtl.lib.dropout import Dropout

__all__ = ["KeepStream"]


class KeepStream(wiring.Component):
    """Hashes rows in order, before the decisions are needed.

    Parameters
    ----------
    config : Config
        Gives ``lanes`` and ``dimensions``.

    Members
    -------
    start : In(1)
        High for a cycle to begin a run; only when the last one is over.
    core : In(dimensions)
        This core's address.
    row_start : In(ROWS_WIDTH), count : In(STRIP_WIDTH)
        The run's first local row, and number of rows; valid with ``start``.
    key : In(KEY_WIDTH), threshold : In(THRESHOLD_WIDTH), panel : In(PANELS_WIDTH)
        See ``Dropout``; held during the run.
    ranked : In(1)
        Whether ``ranks`` says the vertices' ranks, or core and row do; held during the run.
    ranks : In(stream of RANK_WIDTH bits)
        The ranks, row by row.
    o : Out(stream of lanes)
        Lanes that are kept, row by row. The first is there ``Dropout.LATENCY + 1`` cycles after
        ``start``, or after its rank if that comes later.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "core": In(config.dimensions),
            "row_start": In(ROWS_WIDTH),
            "count": In(STRIP_WIDTH),
            "key": In(KEY_WIDTH),
            "threshold": In(THRESHOLD_WIDTH),
            "panel": In(PANELS_WIDTH),
            "ranked": In(1),
            "ranks": In(stream.Signature(RANK_WIDTH)),
            "o": Out(stream.Signature(config.lanes)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.dropout = dropout = Dropout(self._config)
        row = Signal.like(self.row_start)
        left = Signal.like(self.count)
        valid = Signal(dropout.LATENCY)
        known = Signal()  # there is another row, and its rank
        m.d.comb += [
            self.o.valid.eq(valid[-1]),
            self.o.payload.eq(dropout.keep),
            dropout.enable.eq(~self.o.valid | self.o.ready),
            dropout.key.eq(self.key),
            dropout.threshold.eq(self.threshold),
            # The inverse of ``placement.core_of`` and ``row_of``.
            dropout.rank.eq(Mux(self.ranked, self.ranks.payload,
                                Cat(self.core ^ row[0].replicate(len(self.core)), row))),
            dropout.panel.eq(self.panel),
            known.eq((left != 0) & (~self.ranked | self.ranks.valid)),
            self.ranks.ready.eq(dropout.enable & (left != 0) & self.ranked),
        ]
        with m.If(dropout.enable):
            m.d.sync += valid.eq(Cat(known, valid[:-1]))
            with m.If(known):
                m.d.sync += [row.eq(row + 1), left.eq(left - 1)]
        with m.If(self.start):
            m.d.sync += [row.eq(self.row_start), left.eq(self.count)]
        return m
