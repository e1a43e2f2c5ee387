# SPDX-License-Identifier: BSD-2-Clause
"""Stores what the vector unit writes where its next readers find it without memory."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.isa import ROWS_WIDTH, STRIP_WIDTH, Bypass, Opcode
from hypercast.rtl.layouts import CONTROL, BypassPort, Issue
from hypercast.rtl.lib.extremes import tile_rows

__all__ = ["BypassWriter"]


class BypassWriter(wiring.Component):
    """Stores the rows of a DRAIN, or of a LOSS with one panel, as its ``bypass`` says.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1), issue : In(Issue), rows : In(ROWS_WIDTH)
        The instruction and its vertices; valid with ``start``.
    written : In(1), word : In(data_width)
        High when a row's word has been accepted by memory.
    bypass : Out(BypassPort(config)), one for each of ``isa.Bypass``
        The memories; a row is stored in the cycle after ``written``.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "start": In(1),
            "issue": In(Issue),
            "rows": In(ROWS_WIDTH),
            "written": In(1),
            "word": In(config.data_width),
            "bypass": Out(BypassPort(config)).array(len(Bypass)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        drain, loss = self.issue.view(Opcode.DRAIN), self.issue.view(Opcode.LOSS)
        opcode = CONTROL(self.issue.instruction[:CONTROL.size]).opcode
        draining = opcode == Opcode.DRAIN
        stores = draining | (opcode == Opcode.LOSS) & loss.train
        count = Mux(draining, tile_rows(self.rows, drain.row_start, drain.row_limit), self.rows)

        valid, word = Signal(), Signal.like(self.word)
        row, rows, left = Signal(ROWS_WIDTH), Signal(STRIP_WIDTH), Signal(ROWS_WIDTH)
        m.d.sync += [valid.eq(self.written), word.eq(self.word)]
        with m.If(self.start):
            m.d.sync += [row.eq(Mux(draining, drain.row_start, 0)), rows.eq(0), left.eq(count)]
        with m.Elif(valid):
            m.d.sync += [row.eq(row + 1), rows.eq(rows + 1), left.eq(left - 1)]

        for target, base in zip(Bypass, ("left_base", "right_base", "send_base"), strict=True):
            port = self.bypass[target]
            with m.If(self.start):
                m.d.sync += [
                    port.storing.eq(
                        stores & Mux(draining, drain.bypass, loss.bypass)[target] & (count != 0)),
                    port.address.eq(Mux(draining, drain[base], loss[base])),
                ]
            with m.Elif(port.valid):
                m.d.sync += port.address.eq(port.address + 1)
                with m.If(port.last):
                    m.d.sync += port.storing.eq(0)
            m.d.comb += [
                port.rows.eq(rows),
                port.valid.eq(valid & port.storing),
                port.row.eq(row),
                port.last.eq(left == 1),
                port.word.eq(word),
            ]
        return m
