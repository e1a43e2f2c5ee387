# SPDX-License-Identifier: BSD-2-Clause
"""Arbiter that grants the most urgent of several requests."""

from itertools import combinations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.errors import InputError

__all__ = ["PriorityArbiter"]


class PriorityArbiter(wiring.Component):
    """Grants one of the requests of the highest priority, the least recently granted among them.

    Among requests of the same priority, favoured ones go first.

    A matrix arbiter (Dally and Towles, Principles and Practices of Interconnection Networks, 2004,
    section 18.5): registers hold, for each two requesters, which goes first, so that a grant
    depends on requests and registers alone. Priorities are compared on the way into them and
    therefore count a cycle late. So do favours; a grant uses one up.

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
        Priority in the next cycle as a thermometer: bit ``k`` is high if it is more than ``k``.
    favoured : In(count)
        High if a request is favoured in the next cycle, unless it is granted in this one.
    grants : Out(count)
        One-hot while ``enable`` is high and there is a request, else zero. Combinational.

    Raises
    ------
    InputError
        If there is no requester.
    """

    def __init__(self, count: int, levels: int) -> None:
        if count < 1:
            raise InputError(f"count must be at least 1, not {count}")
        super().__init__({
            "enable": In(1),
            "requests": In(count),
            "priorities": In(levels).array(count),
            "favoured": In(count),
            "grants": Out(count),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        count = len(self.requests)
        # Whether a requester goes before another, in this cycle.
        before = [[None] * count for _ in range(count)]
        for one, other in combinations(range(count), 2):
            first = Signal(init=1, name=f"first_{one}_{other}")
            turn = Signal(init=1, name=f"turn_{one}_{other}")  # ``one`` has waited longer
            before[one][other], before[other][one] = first, ~first
            granted, passed = self.grants[one], self.grants[other]
            differ = self.favoured[one] ^ self.favoured[other]
            preferred = Mux(differ, self.favoured[one], turn)
            m.d.sync += [
                turn.eq((turn | passed) & ~granted),
                first.eq(self._exceeds(one, other) | (
                    ~self._exceeds(other, one) & (preferred | passed) & ~granted)),
            ]
        for index in range(count):
            others = [one for one in range(count) if one != index]
            m.d.comb += self.grants[index].eq(self.enable & self.requests[index] & ~Cat(
                self.requests[one] & before[one][index] for one in others).any())
        return m

    def _exceeds(self, one: int, other: int) -> Value:
        """Whether requester ``one`` has a higher priority than ``other``."""
        return (self.priorities[one] & ~self.priorities[other]).any()
