# SPDX-License-Identifier: BSD-2-Clause
"""A long delay of wide values."""

from amaranth.hdl import Module, Mux, ShapeLike, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hypercast.errors import InputError

__all__ = ["DelayLine"]


class DelayLine(wiring.Component):
    """Gives out what came in some cycles ago, from a ring of memory instead of registers.

    Parameters
    ----------
    shape : ShapeLike
        Shape of a value.
    cycles : int
        Delay, at least 2.

    Members
    -------
    i : In(shape)
        A value each cycle.
    o : Out(shape)
        The value of ``cycles`` cycles ago; none in particular until that long after power-up.

    Raises
    ------
    InputError
        If the delay is too short.
    """

    def __init__(self, shape: ShapeLike, cycles: int) -> None:
        if cycles < 2:
            raise InputError(f"cycles must be at least 2, not {cycles}")
        self._shape = shape
        self._cycles = cycles
        super().__init__({"i": In(shape), "o": Out(shape)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.ring = ring = Memory(shape=self._shape, depth=self._cycles, init=[])
        write, read = ring.write_port(), ring.read_port()
        oldest = Signal(range(self._cycles))
        m.d.comb += oldest.eq(Mux(write.addr == self._cycles - 1, 0, write.addr + 1))
        m.d.sync += write.addr.eq(oldest)
        m.d.comb += [
            write.en.eq(1),
            write.data.eq(self.i),
            read.addr.eq(oldest),
            self.o.eq(read.data),
        ]
        return m
