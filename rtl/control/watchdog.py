"""Notices that a running program has come to a standstill."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["PATIENCE", "Watchdog"]

#: Cycles without any movement after which a program counts as stuck. The longest that nothing moves
#: in a sound chip is a memory's latency, at most 1024 cycles and a refresh.
PATIENCE = 1 << 14


class Watchdog(wiring.Component):
    """Counts the cycles since something moved.

    Members
    -------
    enable : In(1)
        High while a program runs.
    progress : In(1)
        High in a cycle in which a flit, a memory word or an operand of an array moved anywhere, or
        an instruction issued.
    expired : Out(1)
        High for a cycle when nothing has moved for ``PATIENCE`` cycles, and again after as many
        more.
    """

    enable: In(1)
    progress: In(1)
    expired: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        idle = Signal(range(PATIENCE))
        m.d.sync += [
            idle.eq(idle + 1),
            self.expired.eq(self.enable & ~self.progress & (idle == PATIENCE - 1)),
        ]
        with m.If(~self.enable | self.progress):
            m.d.sync += idle.eq(0)
        return m
