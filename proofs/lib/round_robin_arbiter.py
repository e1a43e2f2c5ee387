"""The round-robin arbiter."""

from functools import partial

from amaranth.hdl import Assert, Module

from hypercast.proofs.proof import Proof
from hypercast.proofs.requests import assert_one_hot, waits
from hypercast.proofs.solver import Bench
from hypercast.rtl.lib.round_robin_arbiter import RoundRobinArbiter

__all__ = ["PROOFS"]


def _bench(count):
    """Grants one request at once, and each before any other twice."""
    m = Module()
    m.submodules.dut = dut = RoundRobinArbiter(count)
    assert_one_hot(m, dut.grants, dut.requests)
    m.d.comb += Assert(dut.grants.any() == (dut.enable & dut.requests.any()))
    passed = [waits(m, dut.requests[index], dut.grants[index], count - 1, dut.grants.any())
              for index in range(count)]
    return Bench(m, [dut.requests, dut.enable], [one == count - 1 for one in passed])


PROOFS = [
    Proof(block="round_robin_arbiter", size=f"{count} requesters",
          claim="grants one request at once, and each before any other twice",
          bench=partial(_bench, count))
    for count in (1, 2, 3, 5)
]
