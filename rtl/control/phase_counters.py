# SPDX-License-Identifier: BSD-2-Clause
"""Cycles the program spent in each of its phases."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory, ReadPort
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
    phase : In(PHASE_WIDTH)
        Valid with ``enable``.
    index : In(PHASE_WIDTH)
        Counter to read.
    cycles : Out(32)
        The counter ``index`` named one cycle ago.
    """

    clear: In(1)
    enable: In(1)
    phase: In(range(PHASES))
    index: In(range(PHASES))
    cycles: Out(32)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.counters = counters = Memory(shape=32, depth=PHASES, init=[])
        own, asked, write = (counters.read_port(domain="comb"), counters.read_port(domain="comb"),
                             counters.write_port())
        # What the memory holds for a phase does not count before there has been a cycle of it.
        begun = Signal(PHASES)

        def count(port: ReadPort) -> Value:
            return Mux(begun.bit_select(port.addr, 1), port.data, 0)

        m.d.comb += [
            own.addr.eq(self.phase),
            asked.addr.eq(self.index),
            write.en.eq(self.enable),
            write.addr.eq(self.phase),
            write.data.eq(count(own) + 1),
        ]
        m.d.sync += self.cycles.eq(count(asked))
        with m.If(self.enable):
            m.d.sync += begun.bit_select(self.phase, 1).eq(1)
        with m.If(self.clear):
            m.d.sync += begun.eq(0)
        return m
