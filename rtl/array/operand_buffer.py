"""Keeps left operands close to the array, so that they are read from memory once."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hypercast.rtl.array.array_job import ArrayJob
from hypercast.rtl.array.left_word import left_word
from hypercast.rtl.isa import OperandSource

__all__ = ["OperandBuffer"]


class OperandBuffer(wiring.Component):
    """``config.operand_words`` words that software manages: what lies where is the program's say.

    Panel ``k`` of a dense matrix begins at entry ``operand_base + k * operand_stride``; panels of a
    word-sparse one follow each other. Entries are numbered modulo their number.

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
    i : In(stream of left_word(config))
        Words from memory; none with BUFFER.
    o : Out(stream of left_word(config))
        The operand's words: those of ``i`` in the same cycle, which KEEP also stores, or with
        BUFFER those stored, one per cycle, the first one two cycles after ``start``.
    """

    def __init__(self, config):
        self._config = config
        super().__init__({
            "start": In(1),
            "job": In(ArrayJob),
            "i": In(stream.Signature(left_word(config))),
            "o": Out(stream.Signature(left_word(config))),
        })

    def elaborate(self, platform):
        m = Module()
        job, i, o = self.job, self.i, self.o
        m.submodules.entries = entries = Memory(
            shape=left_word(self._config), depth=self._config.operand_words, init=[])
        write, read = entries.write_port(), entries.read_port()

        replay = job.operand == OperandSource.BUFFER
        taken = Signal()
        full = Signal()      # the read port holds a word
        panels = Signal(14)  # of which words are still to leave
        m.d.comb += [
            taken.eq(o.valid & o.ready),
            write.en.eq(taken & (job.operand == OperandSource.KEEP)),
            write.data.eq(i.p),
            read.en.eq(replay & (panels != 0) & (~full | taken)),
        ]
        with m.If(replay):
            m.d.comb += [o.valid.eq(full & (panels != 0)), o.p.eq(read.data)]
        with m.Else():
            m.d.comb += [o.valid.eq(i.valid), o.p.eq(i.p), i.ready.eq(o.ready)]
        with m.If(self.start):
            m.d.sync += [full.eq(0), panels.eq(job.panels)]
        with m.Else():
            # What is read beyond the last panel is not looked at.
            with m.If(read.en):
                m.d.sync += full.eq(1)
            with m.If(taken & o.p.last):
                m.d.sync += panels.eq(panels - 1)

        address, panel = Signal.like(read.addr), Signal.like(read.addr)  # panel: its first entry
        rest = Signal(20)  # rows of a dense panel, this one included
        m.d.comb += [write.addr.eq(address), read.addr.eq(address)]
        with m.If(self.start):
            m.d.sync += [
                address.eq(job.operand_base), panel.eq(job.operand_base), rest.eq(job.rows)]
        with m.Elif(write.en | read.en):
            m.d.sync += [address.eq(address + 1), rest.eq(rest - 1)]
            with m.If(~job.sparse & (rest == 1)):
                following = panel + job.operand_stride
                m.d.sync += [address.eq(following), panel.eq(following), rest.eq(job.rows)]
        return m
