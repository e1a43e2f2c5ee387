"""Square roots, one per cycle."""

from amaranth.hdl import C, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.vector.pipeline import delayed

__all__ = ["SquareRoot"]

#: Bits of a root.
_BITS = 18
#: Bits found in a stage.
_PER_STAGE = 2


class SquareRoot(wiring.Component):
    """Computes ``floor(sqrt(i))``, two digits of the radicand for each bit of the root; a pipeline
    that never stalls.

    Members
    -------
    i : In(36)
        Radicand.
    o : Out(18)
        Root of the ``i`` of ``LATENCY`` cycles ago.
    """

    #: Cycles from ``i`` to ``o``.
    LATENCY = _BITS // _PER_STAGE

    def __init__(self):
        super().__init__({"i": In(2 * _BITS), "o": Out(_BITS)})

    def elaborate(self, platform):
        m = Module()
        # The remainder is at most twice the root found so far.
        radicand, root, remainder = self.i, C(0, 0), C(0, 1)
        for _ in range(self.LATENCY):
            for _ in range(_PER_STAGE):
                taken = Cat(radicand[-2:], remainder)
                trial = Cat(C(1, 2), root)
                fits, rest = Signal(), Signal(len(root) + 2)
                m.d.comb += [
                    fits.eq(taken >= trial),
                    rest.eq(Mux(fits, taken - trial, taken)),
                ]
                radicand, root, remainder = radicand[:-2], Cat(fits, root), rest
            radicand, root, remainder = (
                delayed(m, value, 1) for value in (radicand, root, remainder))
        m.d.comb += self.o.eq(root)
        return m
