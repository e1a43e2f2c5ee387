# SPDX-License-Identifier: BSD-2-Clause
"""The round-robin arbiter."""

from functools import partial

from amaranth.hdl import Assert, Module, Mux, Value

from hypercast.proofs.inside import Inside
from hypercast.proofs.proof import Proof
from hypercast.proofs.requests import assert_one_hot, waits
from hypercast.proofs.solver import Bench
from hypercast.rtl.lib.round_robin_arbiter import RoundRobinArbiter

__all__ = ["PROOFS", "turns"]


def turns(m: Module, later: Value) -> list[Value]:
    """How many requesters come before each, in a round-robin arbiter.

    Parameters
    ----------
    m : Module
        The bench; asserts the invariant of the register.
    later : Value
        The arbiter's register.

    Returns
    -------
    list of Value
    """
    m.d.comb += [Assert((~later & (~later + 1)[:len(later)]) == 0), Assert(~later[0])]
    bits = list(later)
    return [Mux(bit, sum(bits[:index]), sum(bits[index:]) + index)
            for index, bit in enumerate(bits)]


def _bench(count: int) -> Bench:
    """Grants one request at once, and each before any other twice."""
    m = Module()
    dut = RoundRobinArbiter(count)
    inside = Inside(m, dut)
    assert_one_hot(m, dut.grants, dut.requests)
    m.d.comb += Assert(dut.grants.any() == (dut.enable & dut.requests.any()))
    passed = [waits(m, dut.requests[index], dut.grants[index], count - 1, dut.grants.any())
              for index in range(count)]
    for one, before in zip(passed, turns(m, inside.signal("later")), strict=True):
        m.d.comb += Assert(one + before < count)
    return Bench(m, [dut.requests, dut.enable], [one == count - 1 for one in passed])


PROOFS = [
    Proof(block="round_robin_arbiter", size=f"{count} requesters",
          claim="grants one request at once, and each before any other twice",
          bench=partial(_bench, count))
    for count in (1, 2, 3, 5)
]
