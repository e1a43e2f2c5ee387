# SPDX-License-Identifier: BSD-2-Clause
"""The largest magnitude of an instruction's results."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.limits import PEAK_WIDTH
from hypercast.rtl.vector.pipeline import bit_length

__all__ = ["PeakTracker"]


class PeakTracker(wiring.Component):
    """Keeps the bit length of the OR of all magnitudes seen; see ``arithmetic.bit_length``.

    Parameters
    ----------
    width : int
        Bits of a magnitude, at most 63.

    Members
    -------
    clear : In(1)
        Forgets everything seen.
    magnitude : In(width)
        Taken in every cycle; zero when there is none.
    peak : Out(PEAK_WIDTH)
        Bit length of the magnitudes of up to two cycles ago; 0 if all were zero.
    """

    def __init__(self, width: int) -> None:
        super().__init__({"clear": In(1), "magnitude": In(width), "peak": Out(PEAK_WIDTH)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        seen = Signal.like(self.magnitude)
        m.d.sync += [seen.eq(seen | self.magnitude), self.peak.eq(bit_length(seen))]
        with m.If(self.clear):
            m.d.sync += [seen.eq(0), self.peak.eq(0)]
        return m
