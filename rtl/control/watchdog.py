# SPDX-License-Identifier: BSD-2-Clause
"""Notices that a running program has come to a standstill, or would never end."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from hypercast.rtl.limits import PATIENCE
from hypercast.rtl.registers import LIMIT_UNIT

__all__ = ["Watchdog"]


class Watchdog(wiring.Component):
    """Counts the cycles since something moved, and the cycles in which something moved.

    A program whose engines wait for what never comes stands still. One that was given something
    else than its own moves on and on: it is a runaway. A program is neither for at most ``limit *
    LIMIT_UNIT`` cycles with progress and ``PATIENCE`` cycles after each. So every program ends.

    Members
    -------
    enable : In(1)
        High while a program runs.
    progress : In(1)
        High in a cycle in which a flit, a memory word or an operand of an array moved anywhere, or
        an instruction issued.
    limit : In(32)
        Cycles with progress, in units of ``LIMIT_UNIT``, after which a program is a runaway.
    standstill : Out(1)
        High for a cycle when nothing has moved for ``PATIENCE`` cycles, and again after as many
        more.
    runaway : Out(1)
        High in each cycle, but the first one, in which a runaway runs.
    """

    enable: In(1)
    progress: In(1)
    limit: In(32)
    standstill: Out(1)
    runaway: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        idle = Signal(range(PATIENCE))
        moved = Signal(exact_log2(LIMIT_UNIT) + len(self.limit))
        m.d.sync += [
            idle.eq(idle + 1),
            moved.eq(moved + self.progress),
            self.standstill.eq(self.enable & ~self.progress & (idle == PATIENCE - 1)),
            self.runaway.eq(self.enable & (moved[exact_log2(LIMIT_UNIT):] >= self.limit)),
        ]
        with m.If(~self.enable | self.progress):
            m.d.sync += idle.eq(0)
        with m.If(~self.enable):
            m.d.sync += moved.eq(0)
        return m
