"""How old a flit is, roughly: the network's clock, and the ages of flits by it.

Older flits go first. That keeps the busiest resource fed on almost every traffic pattern (age-based
arbitration: Abts and Weisser, SC 2007), and a coarse age is enough: a flit carries the epoch of its
injection, and three ages above "this epoch" are told apart.
"""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["AGES", "EPOCH_CYCLES", "EPOCH_WIDTH", "EpochCounter", "FlitAge"]

#: Bits of an epoch's number, which wraps.
EPOCH_WIDTH = 5
#: Cycles of an epoch, a power of two.
EPOCH_CYCLES = 32
#: Ages above zero that are told apart, in epochs.
AGES = 3


class EpochCounter(wiring.Component):
    """Numbers the epochs of 32 cycles.

    Members
    -------
    clear : In(1)
        High to start epoch 0 again, so that equal programs run equally.
    epoch : Out(EPOCH_WIDTH)
        Number of the epoch, modulo 32.
    """

    def __init__(self) -> None:
        super().__init__({"clear": In(1), "epoch": Out(EPOCH_WIDTH)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        cycles = Signal(range(EPOCH_CYCLES << EPOCH_WIDTH))
        m.d.sync += cycles.eq(cycles + 1)
        with m.If(self.clear):
            m.d.sync += cycles.eq(0)
        m.d.comb += self.epoch.eq(cycles[-EPOCH_WIDTH:])
        return m


class FlitAge(wiring.Component):
    """Age of the flit at the head of a buffer, one cycle late.

    Members
    -------
    valid : In(1)
        High if there is a flit.
    injected, epoch : In(EPOCH_WIDTH)
        The epoch of its injection, and now. Ages wrap: one of 32 epochs looks like none, for an
        epoch.
    age : Out(AGES)
        Thermometer: bit ``k`` is high if it was more than ``k`` epochs old; zero if there was no
        flit.
    """

    def __init__(self) -> None:
        super().__init__({
            "valid": In(1), "injected": In(EPOCH_WIDTH), "epoch": In(EPOCH_WIDTH),
            "age": Out(AGES)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # Whether it was injected now, an epoch ago, ...: shorter than to subtract and compare.
        ages = Cat(self.injected == (self.epoch - age)[:EPOCH_WIDTH] for age in range(AGES))
        m.d.sync += self.age.eq(
            Cat(~ages[:age + 1].any() for age in range(AGES)) & self.valid.replicate(AGES))
        return m
