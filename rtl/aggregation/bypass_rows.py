# SPDX-License-Identifier: BSD-2-Clause
"""Rows that the vector unit stored for an AGGREGATE."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.isa import BASE_WIDTH, ROWS_WIDTH
from hypercast.rtl.layouts import BypassPort
from hypercast.rtl.lib.chaining import Chaining
from hypercast.rtl.lib.parity_memory import ParityMemory

__all__ = ["BypassRows"]


class BypassRows(wiring.Component):
    """``config.bypass_rows`` words, of which consecutive ones leave as a stream, one per cycle.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    bypass : In(BypassPort(config))
        What is stored; addresses are numbers of words.
    start : In(1)
        Begins; only if no words are left.
    base : In(BASE_WIDTH), rows : In(ROWS_WIDTH)
        First word and number of words; valid with ``start``.
    chained : In(1)
        The instruction that stores them may still be under way; valid with ``start``.
    o : Out(stream of data_width)
        The words; the first one two cycles after ``start``, or after it has been stored.
    fault : Out(1)
        High for a cycle after a word was taken that is not what was stored.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "bypass": In(BypassPort(config)),
            "start": In(1),
            "base": In(BASE_WIDTH),
            "rows": In(ROWS_WIDTH),
            "chained": In(1),
            "o": Out(stream.Signature(config.data_width)),
            "fault": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bypass, o = self.bypass, self.o
        m.submodules.words = words = ParityMemory(
            self._config.data_width, self._config.bypass_rows)
        m.submodules.chaining = chaining = Chaining()
        [read], write = words.reads, words.write
        row, left = Signal(ROWS_WIDTH), Signal(ROWS_WIDTH)
        address = Signal.like(read.addr)
        m.d.comb += [
            write.en.eq(bypass.valid),
            write.addr.eq(bypass.address),
            write.data.eq(bypass.word),
            chaining.start.eq(self.start),
            chaining.chained.eq(self.chained),
            chaining.storing.eq(bypass.storing),
            chaining.rows.eq(bypass.rows),
            chaining.row.eq(row),
            read.en.eq((left != 0) & chaining.there & (~o.valid | o.ready)),
            read.addr.eq(address),
            o.payload.eq(read.data),
        ]
        with m.If(self.start):
            m.d.sync += [address.eq(self.base), row.eq(0), left.eq(self.rows)]
        with m.Elif(read.en):
            m.d.sync += [address.eq(address + 1), row.eq(row + 1), left.eq(left - 1)]
        m.d.sync += self.fault.eq(o.valid & o.ready & read.fault)
        with m.If(read.en):
            m.d.sync += o.valid.eq(1)
        with m.Elif(o.ready):
            m.d.sync += o.valid.eq(0)
        return m
