"""The proofs can fail: each mutant breaks one promise, and the proof of that promise finds it.

A mutant overrides an assignment of the block; in Amaranth the last one wins.
"""

import pytest
from amaranth.hdl import Mux, Signal

from hypercast.rtl.lib.round_robin_arbiter import RoundRobinArbiter, one_hot_mux
from hypercast.rtl.network import router
from hypercast.rtl.network.input_buffer import InputBuffer
from hypercast.rtl.network.link_output import LinkOutput
from hypercast.rtl.network.router import Router
from tests.formal import contracts, router_contracts
from tests.formal.contracts import small
from tests.formal.proof import ProofFailedError, prove


class FixedPriority(RoundRobinArbiter):
    """Starves all but the first."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        m.d.comb += self.grants.eq(Mux(self.enable, self.requests & -self.requests, 0))
        return m


class ForgetsToMask(LinkOutput):
    """Sends destinations along that lie on other branches."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        granted = Signal.like(self.grants)
        m.d.sync += [granted.eq(self.grants), self.link.flit.mask.eq(
            one_hot_mux(granted, [one.mask for one in self.flits]))]
        return m


class IgnoresCredits(LinkOutput):
    """Sends whether or not there is room."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        m.d.comb += self.grants.eq(self.requests & -self.requests)
        return m


class ForgetsServed(InputBuffer):
    """Offers a flit again to an output that has served it."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        m.d.comb += m.submodules.queue.served.eq(0)
        return m


class LeavesEarly(InputBuffer):
    """Lets a flit go when the first of its outputs has served it."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        m.d.comb += m.submodules.queue.served.eq(self.served.any().replicate(len(self.served)))
        return m


def refuted(arguments, directory, cycles):
    """Whether a proof fails, as it must, by a counterexample."""
    with pytest.raises(ProofFailedError, match="proof did fail"):
        prove(*arguments, directory, cycles)
    assert directory.joinpath("counterexample.vcd").exists()


def test_an_arbiter_that_starves(tmp_path):
    refuted(contracts.arbiter(FixedPriority(3)), tmp_path, cycles=8)


@pytest.mark.parametrize("mutant", [ForgetsToMask, IgnoresCredits])
def test_a_link_that_forgets(mutant, tmp_path):
    config = small(dimensions=2, planes=2)
    dut = mutant(config, 0, (0, 0, 1))
    refuted(contracts.link_output(config, dut, 0, (0, 0, 1)), tmp_path, cycles=8)


@pytest.mark.parametrize("mutant", [ForgetsServed, LeavesEarly])
def test_a_buffer_that_forgets(mutant, tmp_path):
    config = small(dimensions=2, planes=1)
    dut = mutant(config, 0, None)
    refuted(contracts.input_buffer(config, dut, 0), tmp_path, cycles=8)


@pytest.mark.parametrize(("block", "mutant", "contract"), [
    ("LinkOutput", ForgetsToMask, router_contracts.conserves),
    ("LinkOutput", IgnoresCredits, router_contracts.conserves),
    ("InputBuffer", ForgetsServed, router_contracts.conserves),
    ("InputBuffer", LeavesEarly, router_contracts.serves)])
def test_a_router_with_a_wrong_part(block, mutant, contract, monkeypatch, tmp_path):
    monkeypatch.setattr(router, block, mutant)
    config = small(dimensions=1, planes=1)
    refuted(contract(config, Router(config)), tmp_path, cycles=10)
