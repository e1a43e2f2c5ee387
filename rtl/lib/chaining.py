# SPDX-License-Identifier: BSD-2-Clause
"""Lets an instruction read rows while another one is still storing them."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.isa import ROWS_WIDTH, STRIP_WIDTH

__all__ = ["Chaining"]


class Chaining(wiring.Component):
    """Says which rows are there, as in the chaining of vector processors (Russell, The CRAY-1
    Computer System, 1978).

    Members
    -------
    start : In(1)
        An instruction begins to read.
    chained : In(1)
        What is being stored then may be what the instruction reads; valid with ``start``.
    storing : In(1), rows : In(STRIP_WIDTH)
        As in ``layouts.BypassPort``.
    row : In(ROWS_WIDTH)
        Number of the row to be read next, counted from the instruction's first.
    there : Out(1)
        The row has been stored; from the cycle after ``start``.
    """

    start: In(1)
    chained: In(1)
    storing: In(1)
    rows: In(STRIP_WIDTH)
    row: In(ROWS_WIDTH)
    there: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        following = Signal()
        m.d.sync += following.eq(Mux(self.start, self.chained, following) & self.storing)
        m.d.comb += self.there.eq(~following | ~self.storing | (self.row < self.rows))
        return m
