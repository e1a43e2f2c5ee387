"""Round-robin arbiter, and the multiplexer that goes with its one-hot grants."""

from functools import reduce
from operator import or_

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["RoundRobinArbiter", "one_hot_mux"]


class RoundRobinArbiter(wiring.Component):
    """Grants one of several requests; the one granted last comes last in the next cycle.

    A request that stays high is granted after at most ``count - 1`` other grants.

    Parameters
    ----------
    count : int
        Number of requesters, at least 1.

    Members
    -------
    enable : In(1)
        High if a grant may be given in this cycle.
    requests : In(count)
        One bit per requester.
    grants : Out(count)
        One-hot while ``enable`` is high and there is a request, else zero. Combinational.
    """

    def __init__(self, count):
        if count < 1:
            raise ValueError(f"count must be at least 1, not {count}")
        super().__init__({"enable": In(1), "requests": In(count), "grants": Out(count)})

    def elaborate(self, platform):
        m = Module()
        # The requesters after the one granted last.
        later = Signal.like(self.requests)
        turn = Signal.like(self.requests)
        first = Signal.like(self.requests)
        m.d.comb += [
            turn.eq(Mux((self.requests & later).any(), self.requests & later, self.requests)),
            first.eq(turn & -turn),
            self.grants.eq(Mux(self.enable, first, 0)),
        ]
        with m.If(self.grants.any()):
            m.d.sync += later.eq(~(first | (first - 1)))
        return m


def one_hot_mux(select, values):
    """The one of ``values`` whose bit of ``select`` is high; zero if none is."""
    return reduce(or_, (Mux(bit, value, 0) for bit, value in zip(select, values, strict=True)))
