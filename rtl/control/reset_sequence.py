# SPDX-License-Identifier: BSD-2-Clause
"""Resets the cores when the host asks for it: first their memories finish, then they are reset."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config

__all__ = ["SETTLING", "ResetSequence"]

#: Cycles after which ``unfinished`` means something: it passes registers on its way, as ``quiesce``
#: does.
SETTLING = 8


class ResetSequence(wiring.Component):
    """Waits until external memories have answered all that they were asked for, and resets.

    A memory that answered after the reset would answer to a core that did not ask.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    trigger : In(1)
        High for one cycle to begin; nothing while ``active``.
    unfinished : In(1)
        Memories have something to answer; as it was at most ``SETTLING`` cycles ago.
    active : Out(1)
        Registered; high from ``trigger`` on until all is over.
    quiesce : Out(1)
        Registered; memories are to be asked for nothing more.
    reset : Out(1)
        Registered; the cores' reset, for ``config.reset_cycles`` cycles. Low when ``active`` ends,
        for longer than it takes to reach the cores.
    """

    def __init__(self, config: Config) -> None:
        self._cycles = config.reset_cycles
        super().__init__({
            "trigger": In(1), "unfinished": In(1),
            "active": Out(1), "quiesce": Out(1), "reset": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        left = Signal(range(max(self._cycles, SETTLING)))
        m.d.sync += left.eq(left - (left != 0))
        with m.FSM():
            with m.State("IDLE"), m.If(self.trigger):
                m.d.sync += [self.active.eq(1), self.quiesce.eq(1), left.eq(SETTLING - 1)]
                m.next = "FINISH"
            with m.State("FINISH"), m.If((left == 0) & ~self.unfinished):
                m.d.sync += [self.reset.eq(1), left.eq(self._cycles - 1)]
                m.next = "RESET"
            with m.State("RESET"), m.If(left == 0):
                m.d.sync += [self.reset.eq(0), self.quiesce.eq(0), left.eq(SETTLING - 1)]
                m.next = "SETTLE"
            with m.State("SETTLE"), m.If(left == 0):
                m.d.sync += self.active.eq(0)
                m.next = "IDLE"
        return m
