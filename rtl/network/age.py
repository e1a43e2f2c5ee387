# SPDX-License-Identifier: BSD-2-Clause
"""How old a flit is, roughly: the network's clock, and the ages of flits by it.

Older flits go first. That keeps the busiest resource fed on almost every traffic pattern (age-based
arbitration: Abts and Weisser, SC 2007). A coarse age is enough: time is cut into frames, a flit
carries the number of the frame of its injection, and three ages above "this frame" are told apart
(Lee, Ng and Asanovic, Globally-Synchronized Frames for Guaranteed Quality-of-Service in On-Chip
Networks, ISCA 2008).
"""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["AGES", "FRAME_CYCLES", "FRAME_WIDTH", "FlitAge", "FrameCounter"]

#: Bits of a frame's number, which wraps.
FRAME_WIDTH = 5
#: Cycles of a frame, a power of two.
FRAME_CYCLES = 32
#: Ages above zero that are told apart, in frames.
AGES = 3


class FrameCounter(wiring.Component):
    """Numbers the frames of 32 cycles.

    Members
    -------
    clear : In(1)
        High to start frame 0 again, so that equal programs run equally.
    frame : Out(FRAME_WIDTH)
        Number of the frame, modulo 32.
    """

    def __init__(self) -> None:
        super().__init__({"clear": In(1), "frame": Out(FRAME_WIDTH)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        cycles = Signal(range(FRAME_CYCLES << FRAME_WIDTH))
        m.d.sync += cycles.eq(cycles + 1)
        with m.If(self.clear):
            m.d.sync += cycles.eq(0)
        m.d.comb += self.frame.eq(cycles[-FRAME_WIDTH:])
        return m


class FlitAge(wiring.Component):
    """Age of the flit at the head of a buffer, one cycle late.

    Members
    -------
    valid : In(1)
        High if there is a flit.
    injected, frame : In(FRAME_WIDTH)
        The frame of its injection, and now. Ages wrap: one of 32 frames looks like none, for a
        frame.
    age : Out(AGES)
        Thermometer: bit ``k`` is high if it was more than ``k`` frames old; zero if there was no
        flit.
    """

    def __init__(self) -> None:
        super().__init__({
            "valid": In(1), "injected": In(FRAME_WIDTH), "frame": In(FRAME_WIDTH),
            "age": Out(AGES)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # Whether it was injected now, a frame ago, ...: shorter than to subtract and compare.
        ages = Cat(self.injected == (self.frame - age)[:FRAME_WIDTH] for age in range(AGES))
        m.d.sync += self.age.eq(
            Cat(~ages[:age + 1].any() for age in range(AGES)) & self.valid.replicate(AGES))
        return m
