# SPDX-License-Identifier: BSD-2-Clause
"""What each tile adds to the array's running sums."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import accumulator_row

__all__ = ["TileSums"]


class TileSums(wiring.Component):
    """Subtracts from each row of running sums what it was when the tile before ended.

    The difference is exact, as all sums wrap at the same width. It takes far less than a way to
    clear every cell of the array.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        The rows of an ended tile come, row 0 in the second cycle from now and the others after it.
        Not again for ``P`` cycles.
    wanted : In(1)
        The tile's sums are wanted, not only remembered; valid with ``start``.
    row : In(accumulator_row(config))
        Running sums.
    sums : Out(accumulator_row(config)), sums_valid : Out(1)
        A row of the tile's own sums; row 0 ``LATENCY`` cycles after ``start``.
    """

    #: Cycles from ``start`` to row 0 of the sums.
    LATENCY = 3

    def __init__(self, config: Config) -> None:
        self._lanes = config.lanes
        super().__init__({
            "start": In(1),
            "wanted": In(1),
            "row": In(accumulator_row(config)),
            "sums": Out(accumulator_row(config)),
            "sums_valid": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.memory = memory = Memory(
            shape=self.row.shape(), depth=self._lanes, init=[])
        read, write = memory.read_port(), memory.write_port()
        coming, wanted = Signal(), Signal()  # a row comes in the next cycle
        there, valid = Signal(), Signal()    # it comes in this one
        with m.If(self.start):
            m.d.sync += [coming.eq(1), wanted.eq(self.wanted), read.addr.eq(0)]
        with m.Else():
            m.d.sync += read.addr.eq(read.addr + 1)
            with m.If(read.addr == self._lanes - 1):
                m.d.sync += coming.eq(0)
        m.d.sync += [
            there.eq(coming),
            valid.eq(coming & wanted),
            write.addr.eq(read.addr),
            self.sums_valid.eq(valid),
        ]
        m.d.comb += [write.en.eq(there), write.data.eq(self.row)]
        for own, before, total in zip(self.sums, read.data, self.row, strict=True):
            m.d.sync += own.eq(total - before)
        return m
