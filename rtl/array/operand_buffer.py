# SPDX-License-Identifier: BSD-2-Clause
"""Keeps left operands close to the array, so that they are read from memory once."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.array.array_job import ArrayJob
from hypercast.rtl.array.left_word import left_word
from hypercast.rtl.config import Config
from hypercast.rtl.isa import PANELS_WIDTH, ROWS_WIDTH, OperandSource
from hypercast.rtl.layouts import BypassPort
from hypercast.rtl.lib.chaining import Chaining
from hypercast.rtl.lib.parity_memory import ParityMemory

__all__ = ["OperandBuffer"]


class OperandBuffer(wiring.Component):
    """``config.operand_words`` words that software manages: what lies where is the program's say.

    A ``chained`` job has one dense panel, which the vector unit may still be storing.
    Panel ``k`` of a dense matrix begins at entry ``operand_base + k * operand_stride``; panels of a
    word-sparse matrix follow each other. Entries are numbered modulo their number.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        Begins; not while words of an earlier start are left, and only if there are rows.
    job : In(ArrayJob)
        Constant from ``start`` until the last word is taken. ``operand`` is an
        ``isa.OperandSource``.
    bypass : In(BypassPort(config))
        What the vector unit stores; addresses are numbers of entries.
    i : In(stream of left_word(config))
        Words from memory; none with BUFFER.
    o : Out(stream of left_word(config))
        The operand's words: words of ``i`` in the same cycle, which FILL also stores, or with
        BUFFER the stored words, one per cycle, the first one two cycles after ``start``.
    fault : Out(1)
        High for a cycle after a word was taken that is not what was stored.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "job": In(ArrayJob),
            "bypass": In(BypassPort(config)),
            "i": In(stream.Signature(left_word(config))),
            "o": Out(stream.Signature(left_word(config))),
            "fault": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        job, bypass, i, o = self.job, self.bypass, self.i, self.o
        m.submodules.chaining = chaining = Chaining()
        word = left_word(self._config)
        m.submodules.entries = entries = ParityMemory(word.size, self._config.operand_words)
        [read], write = entries.reads, entries.write
        stored = Signal(word)

        address, panel = Signal.like(read.addr), Signal.like(read.addr)  # panel: its first entry
        rest = Signal(ROWS_WIDTH)  # rows of a dense panel, this one included
        replay = job.operand == OperandSource.BUFFER
        taken, fill = Signal(), Signal()
        held, held_address, held_word = Signal(), Signal.like(address), Signal.like(i.p)
        full = Signal()      # the read port holds a word
        panels = Signal(PANELS_WIDTH)  # of which words are still to leave
        m.d.comb += [
            taken.eq(o.valid & o.ready),
            fill.eq(taken & (job.operand == OperandSource.FILL)),
            write.en.eq(held | bypass.valid),
            write.addr.eq(held_address),
            write.data.eq(stored),
            stored.eq(held_word),
            read.en.eq(replay & (panels != 0) & (~full | taken) & chaining.there & ~held),
            read.addr.eq(address),
            chaining.start.eq(self.start),
            chaining.chained.eq(job.chained),
            chaining.storing.eq(bypass.storing),
            chaining.rows.eq(bypass.rows),
            chaining.row.eq(job.rows - rest),
        ]
        # The vector unit never waits, a word that FILL stores may have to.
        with m.If(bypass.valid):
            m.d.comb += [
                write.addr.eq(bypass.address),
                stored.word.eq(bypass.word), stored.row.eq(bypass.row), stored.last.eq(bypass.last),
            ]
        with m.If(replay):
            m.d.comb += [o.valid.eq(full & (panels != 0)), o.p.as_value().eq(read.data)]
            m.d.sync += self.fault.eq(taken & read.fault)
        with m.Else():
            m.d.sync += self.fault.eq(0)
            free = ~(held & bypass.valid)
            m.d.comb += [o.valid.eq(i.valid & free), o.p.eq(i.p), i.ready.eq(o.ready & free)]
        with m.If(self.start):
            m.d.sync += [full.eq(0), panels.eq(job.panels)]
        with m.Else():
            # What is read beyond the last panel is not looked at.
            with m.If(read.en):
                m.d.sync += full.eq(1)
            with m.Elif(taken):
                m.d.sync += full.eq(0)
            with m.If(taken & o.p.last):
                m.d.sync += panels.eq(panels - 1)

        with m.If(fill):
            m.d.sync += [held.eq(1), held_address.eq(address), held_word.eq(i.p)]
        with m.Elif(~bypass.valid):
            m.d.sync += held.eq(0)
        with m.If(self.start):
            m.d.sync += [
                address.eq(job.operand_base), panel.eq(job.operand_base), rest.eq(job.rows)]
        with m.Elif(fill | read.en):
            m.d.sync += [address.eq(address + 1), rest.eq(rest - 1)]
            with m.If(~job.sparse & (rest == 1)):
                following = panel + job.operand_stride
                m.d.sync += [address.eq(following), panel.eq(following), rest.eq(job.rows)]
        return m
