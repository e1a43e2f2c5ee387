"""Arbiter that grants the most urgent of several requests."""

from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.lib.round_robin_arbiter import RoundRobinArbiter

__all__ = ["PriorityArbiter"]


class PriorityArbiter(wiring.Component):
    """Grants one of the requests of the highest priority there is, round-robin among them.

    Parameters
    ----------
    count : int
        Number of requesters, at least 1.
    levels : int
        Number of priorities above the lowest.

    Members
    -------
    enable : In(1)
        High if a grant may be given in this cycle.
    requests : In(count)
        One bit per requester.
    priorities : In(levels), one per requester
        Priority as a thermometer: bit ``k`` is high if it is more than ``k``.
    grants : Out(count)
        One-hot while ``enable`` is high and there is a request, else zero. Combinational.
    """

    def __init__(self, count, levels):
        self._levels = levels
        super().__init__({
            "enable": In(1),
            "requests": In(count),
            "priorities": In(levels).array(count),
            "grants": Out(count),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.turns = turns = RoundRobinArbiter(len(self.requests))
        # What any request reaches, a request needs too: all levels at once, not one by one.
        reached = Cat(
            (self.requests & Cat(priority[level] for priority in self.priorities)).any()
            for level in range(self._levels))
        m.d.comb += [
            turns.enable.eq(self.enable),
            turns.requests.eq(self.requests & ~Cat(
                (reached & ~priority).any() for priority in self.priorities)),
            self.grants.eq(turns.grants),
        ]
        return m
