# SPDX-License-Identifier: BSD-2-Clause
"""Brings the operand words of an instruction together for the systolic array."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from hypercast.rtl.array.array_job import ArrayJob
from hypercast.rtl.array.keep_masks import KeepMasks
from hypercast.rtl.array.left_operand import LeftOperand
from hypercast.rtl.array.left_word import left_word
from hypercast.rtl.array.right_operand import RightOperand
from hypercast.rtl.config import Config
from hypercast.rtl.isa import PANELS_WIDTH
from hypercast.rtl.layouts import BypassPort, ReadPort
from hypercast.rtl.lib.burst_reader import BurstReader
from hypercast.rtl.lib.rank_reader import RankReader

__all__ = ["OperandFeed", "beat"]

#: Words that can wait for their mask; a mask takes ten cycles.
_WAITING = 16


def beat(config: Config) -> data.StructLayout:
    """Layout of what enters the array in one cycle.

    ``left`` and ``right`` (GRADIENT only) are words if ``word`` is high, of row ``row`` of the
    job. ``first``: a tile begins here; ``closes``: and it ends an earlier one whose sums are wanted
    (GRADIENT only).
    """
    return data.StructLayout({
        "left": config.data_width, "right": config.data_width,
        "row": range(config.accumulator_rows), "word": 1, "first": 1, "closes": 1})


class OperandFeed(wiring.Component):
    """Reads, masks and pairs the operands of an ``ArrayJob``.

    MATMUL gives the rows of all panels, nothing if there are no rows. GRADIENT gives for each
    panel its rows, or one beat without a word if there are no rows; a last ``first`` without a word
    closes the last panel. A word-sparse operand has only the rows that are stored.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        Begins; not while ``busy``.
    job : In(ArrayJob)
        Constant from ``start`` until ``busy`` falls. Dropout clears elements of the left word.
    core : In(dimensions)
        Address of this core.
    left, right, index : Out(ReadPort(config))
        Memory access for the two operands, and for a list of the left one: where it lies if it is
        sparse, or the ranks of its rows.
    bypass_left, bypass_right : In(BypassPort(config))
        What the vector unit stores of the two operands.
    o : Out(stream of beat(config))
        What the array is to be fed.
    busy : Out(1)
        High from the cycle after ``start`` until the last beat is taken and nothing is read.
    fault : Out(1)
        High for a cycle after a word was taken that is not what was stored near the array.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "job": In(ArrayJob),
            "core": In(config.dimensions),
            "left": Out(ReadPort(config)),
            "right": Out(ReadPort(config)),
            "index": Out(ReadPort(config)),
            "bypass_left": In(BypassPort(config)),
            "bypass_right": In(BypassPort(config)),
            "o": Out(stream.Signature(beat(config))),
            "busy": Out(1),
            "fault": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config, job, o = self._config, self.job, self.o
        m.submodules.masks = masks = KeepMasks(config)
        m.submodules.left_operand = left = LeftOperand(config)
        m.submodules.rank_reader = ranks = RankReader(config)
        m.submodules.list_reader = lists = BurstReader(config)
        m.submodules.right_operand = right = RightOperand(config)
        m.submodules.waiting = waiting = SyncFIFOBuffered(
            width=left_word(config).size, depth=_WAITING)
        wiring.connect(m, wiring.flipped(self.left), left.port)
        wiring.connect(m, wiring.flipped(self.right), right.port)
        wiring.connect(m, wiring.flipped(self.index), lists.port)
        wiring.connect(m, ranks.o, masks.ranks)
        wiring.connect(m, wiring.flipped(self.bypass_left), left.bypass)
        wiring.connect(m, wiring.flipped(self.bypass_right), right.bypass)

        ranked = job.dropout & job.ranked
        for source, chosen in ((left.index, job.sparse), (ranks.source, ~job.sparse)):
            with m.If(chosen):
                for there, here in ((source.command, lists.command), (lists.o, source.words)):
                    m.d.comb += [here.valid.eq(there.valid), here.payload.eq(there.payload),
                                 there.ready.eq(here.ready)]

        # A word, its mask and its partner set out together, and meet again at ``o``.
        empty = Signal()
        panel = Signal(PANELS_WIDTH)
        word = left.o
        m.d.comb += [
            empty.eq(job.rows == 0),
            left.start.eq(self.start & ~empty),
            left.job.eq(job),
            right.start.eq(self.start & ~empty),
            right.job.eq(job),
            ranks.start.eq(self.start & ~empty & ranked),
            ranks.rows.eq(job.rows),
            ranks.panels.eq(job.panels),
            ranks.address.eq(job.ranks),
            masks.start.eq(self.start),
            masks.job.eq(job),
            masks.core.eq(self.core),
            waiting.w_en.eq(word.valid & masks.i.ready & right.rows.ready),
            waiting.w_data.eq(word.p),
            masks.i.valid.eq(word.valid & waiting.w_rdy & right.rows.ready),
            masks.i.p.row.eq(word.p.row),
            masks.i.p.panel.eq(panel),
            right.rows.valid.eq(word.valid & waiting.w_rdy & masks.i.ready),
            right.rows.payload.eq(word.p.row - job.row_start),
            word.ready.eq(waiting.w_rdy & masks.i.ready & right.rows.ready),
        ]
        with m.If(self.start):
            m.d.sync += panel.eq(job.panel)
        with m.Elif(word.valid & word.ready & word.p.last):
            m.d.sync += panel.eq(panel + 1)

        working = Signal()
        # Panels still to come, this one included; 0: closing beat of GRADIENT.
        panels = Signal(PANELS_WIDTH)
        first = Signal()     # the next beat begins a panel
        opened = Signal()    # there has been a beat
        present = Signal()   # the operands of a word are there
        take = Signal()
        met = left_word(config)(waiting.r_data)
        m.d.comb += [
            self.busy.eq(working | right.busy),
            self.fault.eq(left.fault | right.fault),
            o.p.word.eq(~empty & (panels != 0)),
            present.eq(waiting.r_rdy & (~job.gradient | right.o.valid) & masks.o.valid),
            o.valid.eq(working & (present | ~o.p.word)),
            take.eq(o.valid & o.ready & o.p.word),
            waiting.r_en.eq(take),
            right.o.ready.eq(take & job.gradient),
            masks.o.ready.eq(take),
            # Zero without a word, so that a beat that waits does not change.
            o.p.left.eq(met.word & Cat(
                (keep & o.p.word).replicate(config.element_width) for keep in masks.o.payload)),
            o.p.right.eq(right.o.payload),
            o.p.row.eq(met.row - job.row_start),
            o.p.first.eq(first),
            o.p.closes.eq(first & opened & job.gradient),
        ]

        with m.If(self.start):
            m.d.sync += [
                working.eq(job.gradient | (~empty & (job.panels != 0))),
                panels.eq(job.panels),
                first.eq(1),
                opened.eq(0),
            ]
        with m.Elif(o.valid & o.ready):
            m.d.sync += opened.eq(1)
            with m.If(~o.p.word | met.last):
                m.d.sync += [first.eq(1), panels.eq(panels - 1)]
                with m.If(panels == ~job.gradient):  # one left, or none and the closing beat taken
                    m.d.sync += working.eq(0)
            with m.Else():
                m.d.sync += first.eq(0)
        return m
