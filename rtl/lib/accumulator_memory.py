# SPDX-License-Identifier: BSD-2-Clause
"""Rows of accumulators in one memory."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import accumulator_row
from hypercast.rtl.lib.adder import sum_of
from hypercast.rtl.lib.ram_style import ram_style

__all__ = ["AccumulatorMemory"]


class AccumulatorMemory(wiring.Component):
    """In each cycle adds to a row, or reads a row and clears it.

    The row is read in the cycle of ``enable`` and written in the next. If that cycle's access is to
    the same row, its data come past the memory. All rows are zero when the device is configured,
    and after a reset of more than ``rows`` cycles.

    Parameters
    ----------
    config : Config
        Gives the layout of a row.
    rows : int
        Number of rows, a power of two.

    Members
    -------
    enable : In(1)
        High for an access.
    clear : In(1)
        Whether the row is cleared instead of added to; valid with ``enable``.
    row : In(range(rows))
        The row; valid with ``enable``.
    addend : In(accumulator_row(config))
        What is added; valid with ``enable``. Sums wrap at ``config.accumulator_width`` bits.
    data : Out(accumulator_row(config))
        The row as it was; one cycle after ``enable``, unless it was also accessed in the cycle
        before.
    overflow : Out(1)
        High for a cycle, two after ``enable``, if a sum wrapped.
    """

    def __init__(self, config: Config, rows: int) -> None:
        self._rows = rows
        self._shape = accumulator_row(config)
        super().__init__({
            "enable": In(1),
            "clear": In(1),
            "row": In(range(rows)),
            "addend": In(self._shape),
            "data": Out(self._shape),
            "overflow": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        attributes = ram_style(self._rows, self._shape.size)
        m.submodules.memory = memory = Memory(
            shape=self._shape, depth=self._rows, init=[], attrs=attributes)
        read, write = memory.read_port(), memory.write_port()

        # The second cycle of an access. A reset clears, too.
        active, clearing, repeated = Signal(), Signal(init=1), Signal()
        row = Signal.like(self.row)
        addend, previous = Signal(self._shape), Signal(self._shape)
        m.d.sync += [
            active.eq(self.enable),
            clearing.eq(self.clear),
            repeated.eq(active & (self.row == row)),
            row.eq(self.row),
            addend.eq(self.addend),
            previous.eq(write.data),
        ]
        with m.If(self.clear):
            m.d.sync += addend.eq(0)
        m.d.comb += [
            read.en.eq(self.enable),
            read.addr.eq(self.row),
            self.data.eq(read.data),
            write.en.eq(active),
            write.addr.eq(row),
        ]
        # A sum wrapped if its sign is neither of its terms' signs; compared a cycle later, so that
        # nothing follows the adders.
        added = Signal()
        wrapped = Signal(len(addend))
        m.d.sync += added.eq(active & ~clearing)
        m.d.comb += self.overflow.eq(added & wrapped.any())
        for index, (total, term, old, new) in enumerate(
                zip(write.data, addend, read.data, previous, strict=True)):
            selected = Mux(clearing, 0, Mux(repeated, new, old))
            m.d.comb += total.eq(sum_of(term, selected, len(term)))
            sign = ~clearing & Mux(repeated, new[-1], old[-1])
            positive, negative = Signal(), Signal()
            m.d.sync += [positive.eq(~(term[-1] | sign)), negative.eq(term[-1] & sign)]
            m.d.comb += wrapped[index].eq(Mux(new[-1], positive, negative))

        # A register, so that whatever resets the others clears rows as well.
        resetting = Signal(init=1)
        reset_row = Signal.like(self.row, reset_less=True)
        m.d.sync += resetting.eq(0)
        with m.If(resetting):
            m.d.sync += reset_row.eq(reset_row + 1)
            m.d.comb += [write.en.eq(1), write.addr.eq(reset_row)]
        return m
