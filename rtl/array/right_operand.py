# SPDX-License-Identifier: BSD-2-Clause
"""Reads the right operand of a GRADIENT."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from hypercast.rtl.array.array_job import ArrayJob
from hypercast.rtl.array.panel_commands import PanelCommands
from hypercast.rtl.config import Config
from hypercast.rtl.isa import ROWS_WIDTH
from hypercast.rtl.layouts import BypassPort, ReadPort
from hypercast.rtl.lib.burst_reader import BurstReader
from hypercast.rtl.lib.chaining import Chaining
from hypercast.rtl.lib.parity_memory import ParityMemory

__all__ = ["RightOperand"]

#: Rows that can be given ahead of their words, at least as many as wait for their mask.
_AHEAD = 16


class RightOperand(wiring.Component):
    """Streams the words of one panel, in the order of the rows that it is given.

    A panel, of at most ``config.accumulator_rows`` rows, is read into a buffer once; a word is
    there as soon as its row has been read. With ``ones``, each tile has a panel of its own,
    ``stride`` words after the one before, and rows must be given in order. With ``bypassed``, the
    words are the ones that the vector unit stored, for which there are ``config.bypass_rows``
    entries.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        Begins; not while ``busy``, nor while words of an earlier start are left, and only if there
        are rows.
    job : In(ArrayJob)
        Constant from ``start`` until the last word is taken and ``busy`` falls. Without
        ``gradient``, nothing is read.
    rows : In(stream of ROWS_WIDTH)
        Rows of the panel whose words are wanted, some given ahead. Without ``gradient``, always
        ready.
    o : Out(stream of data_width)
        The words; of a panel in the buffer, two cycles after their row.
    port : Out(ReadPort(config))
        Memory access.
    bypass : In(BypassPort(config))
        What the vector unit stores; addresses are numbers of entries.
    busy : Out(1)
        High from the cycle after ``start`` until the whole panel has been read.
    fault : Out(1)
        High for a cycle after a word was taken that is not what was stored.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "job": In(ArrayJob),
            "rows": In(stream.Signature(ROWS_WIDTH)),
            "o": Out(stream.Signature(config.data_width)),
            "port": Out(ReadPort(config)),
            "bypass": In(BypassPort(config)),
            "busy": Out(1),
            "fault": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config, job, rows, o = self._config, self.job, self.rows, self.o
        m.submodules.reader = reader = BurstReader(config)
        m.submodules.panels = panels = PanelCommands(config)
        m.submodules.panel = panel = ParityMemory(config.data_width, config.accumulator_rows)
        m.submodules.entries = entries = ParityMemory(config.data_width, config.bypass_rows)
        [read], write = panel.reads, panel.write
        [entry], store = entries.reads, entries.write
        wiring.connect(m, reader.port, wiring.flipped(self.port))
        wiring.connect(m, panels.o, reader.command)

        m.submodules.wanted = wanted = SyncFIFO(
            width=exact_log2(config.accumulator_rows), depth=_AHEAD)
        kept = job.bypassed | ~job.ones  # in one of both memories
        m.d.comb += [
            panels.start.eq(self.start & job.gradient & ~job.bypassed),
            panels.rows.eq(job.rows),
            panels.panels.eq(Mux(kept & (job.panels != 0), 1, job.panels)),
            panels.channel.eq(job.gradient_channel),
            panels.stride.eq(Mux(job.ones, job.stride, 0)),
            panels.address.eq(job.gradient_address),
            self.busy.eq(panels.o.valid | reader.busy),
        ]

        m.submodules.chaining = chaining = Chaining()
        stored = Signal(range(config.accumulator_rows + 1))
        m.d.comb += [
            write.en.eq(reader.o.valid & kept),
            write.addr.eq(stored),
            write.data.eq(reader.o.payload),
            reader.o.ready.eq(Mux(kept, 1, o.ready)),
            store.en.eq(self.bypass.valid),
            store.addr.eq(self.bypass.address),
            store.data.eq(self.bypass.word),
            chaining.start.eq(self.start & job.bypassed),
            chaining.chained.eq(job.chained),
            chaining.storing.eq(self.bypass.storing),
            chaining.rows.eq(self.bypass.rows),
            chaining.row.eq(wanted.r_data),
        ]
        with m.If(self.start):
            m.d.sync += stored.eq(0)
        with m.Elif(write.en):
            m.d.sync += stored.eq(stored + 1)

        gather = job.gradient & kept
        full = Signal()  # the read port holds a word
        m.d.comb += [
            rows.ready.eq(~gather | wanted.w_rdy),
            wanted.w_en.eq(rows.valid & gather),
            wanted.w_data.eq(rows.payload),
            wanted.r_en.eq(Mux(job.bypassed, chaining.there, wanted.r_data < stored)
                           & (~full | o.ready)),
            read.en.eq(wanted.r_rdy & wanted.r_en),
            read.addr.eq(wanted.r_data),
            entry.en.eq(read.en),
            entry.addr.eq(wanted.r_data + job.bypass_base),
            o.valid.eq(Mux(kept, full, reader.o.valid)),
            o.payload.eq(Mux(
                kept, Mux(job.bypassed, entry.data, read.data), reader.o.payload)),
        ]
        m.d.sync += self.fault.eq(
            full & o.ready & kept & Mux(job.bypassed, entry.fault, read.fault))
        with m.If(read.en):
            m.d.sync += full.eq(1)
        with m.Elif(o.ready):
            m.d.sync += full.eq(0)
        return m
