"""A router's ejection port."""

from functools import partial

from amaranth.hdl import Assert, Module, Signal

from hypercast.proofs.configuration import small
from hypercast.proofs.proof import Proof
from hypercast.proofs.requests import assert_one_hot, in_effect, is_top, waits
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import constant, held, past
from hypercast.rtl.layouts import flit
from hypercast.rtl.network.ejection_port import EjectionPort

__all__ = ["PROOFS"]

#: Cycles without traffic after which a port with a ready receiver must be empty.
_DRAIN = 3


def _bench(count):
    """The n-th flit granted is the n-th ejected, for this core only; the urgent take turns."""
    m = Module()
    config = small(dimensions=1, planes=2)
    m.submodules.dut = dut = EjectionPort(config, count)
    assert_one_hot(m, dut.grants, dut.requests)
    m.d.comb += Assert(held(m, dut.eject))
    for index, priority in enumerate(in_effect(m, dut.ages, dut.favoured)):
        waits(m, dut.requests[index] & is_top(priority), dut.grants[index], count - 1,
               dut.grants.any())
    chosen, taken, given, quiet = Signal(3), Signal(4), Signal(4), Signal(range(_DRAIN + 1))
    kept = Signal(flit(config))
    constant(m, chosen)
    granted = past(m, dut.grants)
    m.d.sync += [taken.eq(taken + granted.any()),
                 given.eq(given + (dut.eject.valid & dut.eject.ready))]
    with m.If(taken == chosen):
        for index, one in enumerate(dut.flits):
            with m.If(granted[index]):
                m.d.sync += [kept.eq(one), kept.mask.eq(1), kept.epoch.eq(0)]
    with m.If(dut.eject.valid):
        m.d.comb += Assert(given < taken)
        with m.If(given == chosen):
            m.d.comb += Assert(dut.eject.payload.as_value() == kept.as_value())
    with m.If(dut.requests.any() | ~dut.eject.ready):
        m.d.sync += quiet.eq(0)
    with m.Elif(quiet != _DRAIN):
        m.d.sync += quiet.eq(quiet + 1)
    m.d.comb += Assert((quiet != _DRAIN) | (given == taken))
    m.d.comb += Assert(~dut.eject.ready | (dut.grants.any() == dut.requests.any()))
    return Bench(m, [chosen, dut.requests, dut.eject.ready, *dut.ages, dut.favoured, *dut.flits],
                 [(given == 3) & (chosen == 2), quiet == _DRAIN])


PROOFS = [
    Proof(block="ejection_port", size=f"{count} requesters",
          claim="ejects what it granted, in order, for this core only; the urgent take turns",
          bench=partial(_bench, count), cycles=9, limit="no invariant yet")
    for count in (1, 3)
]
