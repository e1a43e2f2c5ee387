# SPDX-License-Identifier: BSD-2-Clause
"""The priority arbiter."""

from functools import partial
from itertools import combinations, permutations

from amaranth.hdl import Assert, Module, Value

from hypercast.proofs.inside import Inside
from hypercast.proofs.proof import Proof
from hypercast.proofs.requests import assert_one_hot, in_effect, is_top, waits
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import past
from hypercast.rtl.lib.priority_arbiter import PriorityArbiter

__all__ = ["PROOFS", "order"]


def order(m: Module, inside: Inside, path: str, count: int) -> dict[tuple[int, int], Value]:
    """Who comes before whom in a priority arbiter, among requests that are alike.

    Parameters
    ----------
    m : Module
        The bench; asserts that nobody comes before himself, by whatever way.
    inside : Inside
        The block with the arbiter.
    path : str
        Names of the part that is the arbiter, each with a dot behind it.
    count : int
        Number of requesters.

    Returns
    -------
    dict
        (one, other) to whether ``one`` has waited longer.
    """
    before = {}
    for one, other in combinations(range(count), 2):
        turn = inside.signal(f"{path}turn_{one}_{other}")
        before[one, other], before[other, one] = turn, ~turn
    for one, two, three in permutations(range(count), 3):
        m.d.comb += Assert(~(before[one, two] & before[two, three] & before[three, one]))
    return before


def _bench(count: int, levels: int) -> Bench:
    """Grants one request at once, the highest priority, then favour first; the top take turns."""
    m = Module()
    dut = PriorityArbiter(count, levels)
    inside = Inside(m, dut)
    before = order(m, inside, "", count)
    assert_one_hot(m, dut.grants, dut.requests)
    m.d.comb += Assert(dut.grants.any() == (dut.enable & dut.requests.any()))
    passed = []
    priorities = in_effect(m, dut.priorities, dut.favoured)
    favoured = past(m, dut.favoured & ~dut.grants)
    for index, priority in enumerate(priorities):
        for other, higher in enumerate(priorities):
            less = (higher & ~priority).any() | (
                (higher == priority) & favoured[other] & ~favoured[index])
            m.d.comb += Assert(~(dut.grants[index] & less & dut.requests[other]))
        passed.append(waits(m, dut.requests[index] & is_top(priority), dut.grants[index],
                            count - 1, dut.grants.any()))
        others = (before[other, index] for other in range(count) if other != index)
        m.d.comb += Assert(passed[-1] + sum(others) < count)
    return Bench(m, [dut.requests, dut.enable, *dut.priorities, dut.favoured],
                 [one == count - 1 for one in passed])


PROOFS = [
    Proof(block="priority_arbiter", size=f"{count} requesters, {levels} levels",
          claim="grants the most urgent request, then the favoured; the top take turns",
          bench=partial(_bench, count, levels))
    for count, levels in ((2, 1), (3, 2), (4, 2))
]
