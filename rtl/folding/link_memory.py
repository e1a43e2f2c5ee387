# SPDX-License-Identifier: BSD-2-Clause
"""What folded cores send each other: a cycle of the chip's links, while the next is written."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hypercast.rtl.network.topology import neighbour

__all__ = ["LinkMemory"]


class LinkMemory(wiring.Component):
    """Holds what leaves every core along one dimension.

    In its slot, a core reads what its neighbour sends in this cycle of the chip, and in the slot
    after, it writes what it will send in the next. Cycles take turns at two halves of the memory.

    Parameters
    ----------
    dimension : int
        Dimension of the links.
    dimensions : int
        Dimensions of the hypercube, at least 2; the number of slots is ``2 ** dimensions``.
    width : int
        Bits that leave a core.

    Members
    -------
    slot : In(dimensions)
        Whose slot it is; one more in every cycle.
    outgoing : In(width)
        What the core of the slot before sends in its next cycle.
    incoming : Out(width)
        What this core's neighbour sends in this one.
    """

    def __init__(self, dimension: int, dimensions: int, width: int) -> None:
        self._dimension = dimension
        self._slots = 1 << dimensions
        self._width = width
        super().__init__({
            "slot": In(dimensions), "outgoing": In(width), "incoming": Out(width),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # It must not matter how long resets last, so nothing here knows of them.
        half = Signal(reset_less=True)
        following, previous = Signal(len(self.slot)), Signal(len(self.slot))
        m.d.comb += [following.eq(self.slot + 1), previous.eq(self.slot - 1)]
        with m.If(following == 0):
            m.d.sync += half.eq(~half)

        m.submodules.memory = memory = Memory(
            shape=self._width, depth=2 * self._slots, init=[],
            attrs={"ram_style": "distributed"})
        write = memory.write_port()
        read = memory.read_port(transparent_for=(write,))
        m.d.comb += [
            write.addr.eq(Cat(previous, ~half ^ (self.slot == 0))),
            write.data.eq(self.outgoing), write.en.eq(1),
            read.addr.eq(Cat(neighbour(following, self._dimension), half ^ (following == 0))),
            self.incoming.eq(read.data),
        ]
        return m
