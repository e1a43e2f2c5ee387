"""Cycles the program spent in each of its phases."""

from amaranth.hdl import Array, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.registers import PHASES

__all__ = ["PhaseCounters"]


class PhaseCounters(wiring.Component):
    """One 32-bit counter per phase; a counter wraps.

    Members
    -------
    clear : In(1)
        Sets all counters to zero.
    enable : In(1)
        Adds one to the counter of ``phase``.
    phase : In(4)
        Valid with ``enable``.
    index : In(4)
        Counter to read.
    cycles : Out(32)
        The counter ``index`` named one cycle ago.
    """

    clear: In(1)
    enable: In(1)
    phase: In(range(PHASES))
    index: In(range(PHASES))
    cycles: Out(32)

    def elaborate(self, platform):
        m = Module()
        counters = Array(Signal(32, name=f"phase_{index}") for index in range(PHASES))
        for index, counter in enumerate(counters):
            with m.If(self.clear):
                m.d.sync += counter.eq(0)
            with m.Elif(self.enable & (self.phase == index)):
                m.d.sync += counter.eq(counter + 1)
        m.d.sync += self.cycles.eq(counters[self.index])
        return m
