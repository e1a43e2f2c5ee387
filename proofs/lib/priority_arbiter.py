"""The priority arbiter."""

from functools import partial

from amaranth.hdl import Assert, Module

from hypercast.proofs.proof import Proof
from hypercast.proofs.requests import assert_one_hot, in_effect, is_top, waits
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import past
from hypercast.rtl.lib.priority_arbiter import PriorityArbiter

__all__ = ["PROOFS"]


def _bench(count, levels):
    """Grants one request at once, the highest priority, then favour first; the top take turns."""
    m = Module()
    m.submodules.dut = dut = PriorityArbiter(count, levels)
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
    return Bench(m, [dut.requests, dut.enable, *dut.priorities, dut.favoured],
                 [one == count - 1 for one in passed])


PROOFS = [
    Proof(block="priority_arbiter", size=f"{count} requesters, {levels} levels",
          claim="grants the most urgent request, then the favoured; the top take turns",
          bench=partial(_bench, count, levels), cycles=10, limit="no invariant yet")
    for count, levels in ((2, 1), (3, 2), (4, 2))
]
