# SPDX-License-Identifier: BSD-2-Clause
"""Square roots, one per cycle."""

from amaranth.hdl import C, Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.isa import EPSILON_WIDTH
from hypercast.rtl.vector.pipeline import delay_by

__all__ = ["SquareRoot"]

#: Bits of a root.
_BITS = EPSILON_WIDTH
#: Bits found in a stage.
_PER_STAGE = 2


class SquareRoot(wiring.Component):
    """Computes ``floor(sqrt(i))``, two digits of the radicand for each bit of the root; a pipeline
    that never stalls.

    Members
    -------
    i : In(2 * EPSILON_WIDTH)
        Radicand.
    o : Out(EPSILON_WIDTH)
        Root of the ``i`` of ``LATENCY`` cycles ago.
    """

    #: Cycles from ``i`` to ``o``.
    LATENCY = _BITS // _PER_STAGE

    def __init__(self) -> None:
        super().__init__({"i": In(2 * _BITS), "o": Out(_BITS)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # Non-restoring: what a trial with a next bit of one leaves over may be negative; the next
        # trial then adds where it would have subtracted.
        radicand, root, remainder = self.i, C(0, 0), C(0, 1)
        for _ in range(self.LATENCY):
            for _ in range(_PER_STAGE):
                subtract = ~remainder[-1]
                trial = Cat(C(3, 2), root ^ subtract.replicate(len(root) + 1))
                following = Signal(len(trial))
                m.d.comb += following.eq(Cat(radicand[-2:], remainder) + trial)
                radicand, root, remainder = (
                    radicand[:-2], Cat(~following[-1], root), following)
            radicand, root, remainder = (
                delay_by(m, value, 1) for value in (radicand, root, remainder))
        m.d.comb += self.o.eq(root)
        return m
