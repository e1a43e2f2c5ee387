# SPDX-License-Identifier: BSD-2-Clause
"""Holds the chip in reset for long enough."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.errors import InputError

__all__ = ["ResetPulse"]


class ResetPulse(wiring.Component):
    """A reset of a given length, after its own reset and on demand.

    Parameters
    ----------
    cycles : int
        Length, at least 1.

    Members
    -------
    trigger : In(1)
        High for one cycle to begin.
    reset : Out(1, init=1)
        Registered; high for ``cycles`` cycles.

    Raises
    ------
    InputError
        If the length is not positive.
    """

    def __init__(self, cycles: int) -> None:
        if cycles < 1:
            raise InputError(f"cycles must be at least 1, not {cycles}")
        self._cycles = cycles
        super().__init__({"trigger": In(1), "reset": Out(1, init=1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        left = Signal(range(self._cycles), init=self._cycles - 1)
        with m.If(self.trigger):
            m.d.sync += [self.reset.eq(1), left.eq(self._cycles - 1)]
        with m.Elif(left == 0):
            m.d.sync += self.reset.eq(0)
        with m.Else():
            m.d.sync += left.eq(left - 1)
        return m
