# SPDX-License-Identifier: BSD-2-Clause
"""A router's ejection port."""

from functools import partial

from amaranth.hdl import Assert, Module, Signal

from hypercast.proofs.configuration import small
from hypercast.proofs.followed import Followed
from hypercast.proofs.inside import Inside
from hypercast.proofs.lib.priority_arbiter import order
from hypercast.proofs.lib.skid_buffer import assert_skid_buffer
from hypercast.proofs.proof import Proof
from hypercast.proofs.requests import assert_one_hot, in_effect, is_top, waits
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import is_held, past
from hypercast.rtl.layouts import flit
from hypercast.rtl.network.ejection_port import EjectionPort

__all__ = ["PROOFS"]

#: Cycles without traffic after which a port with a ready receiver must be empty.
_DRAIN = 3


def _bench(count: int) -> Bench:
    """What is granted is ejected, in order, for this core only; the urgent take turns.

    A port with a ready receiver is soon empty.
    """
    m = Module()
    config = small(dimensions=1, planes=2)
    dut = EjectionPort(config, count)
    inside = Inside(m, dut)
    before = order(m, inside, "arbiter.", count)
    assert_one_hot(m, dut.grants, dut.requests)
    for index, priority in enumerate(in_effect(m, dut.ages, dut.favoured)):
        passed = waits(m, dut.requests[index] & is_top(priority), dut.grants[index], count - 1,
                       dut.grants.any())
        others = (before[other, index] for other in range(count) if other != index)
        m.d.comb += Assert(passed + sum(others) < count)

    granted, expected = past(m, dut.grants), Signal(flit(config))
    for index, one in enumerate(dut.flits):
        with m.If(granted[index]):
            m.d.comb += [expected.eq(one), expected.destinations.eq(1), expected.frame.eq(0)]
    followed = Followed(m, 2, enters=granted.any(), word=expected.as_value(),
                        leaves=dut.eject.valid & dut.eject.ready)
    output = dut.eject.payload.as_value()
    m.d.comb += [
        Assert(is_held(m, dut.eject)), Assert(~followed.next | (output == followed.word)),
        Assert(dut.eject.valid == (followed.count != 0)),
        Assert(~dut.eject.ready | (dut.grants.any() == dut.requests.any())),
        Assert(inside.signal("granted") == granted),
        Assert(~granted.any() | inside.signal("output.empty")),
    ]
    assert_skid_buffer(m, inside, "output.", dut.eject.valid, output, followed)

    quiet = Signal(range(_DRAIN + 1))
    with m.If(dut.requests.any() | ~dut.eject.ready):
        m.d.sync += quiet.eq(0)
    with m.Elif(quiet != _DRAIN):
        m.d.sync += quiet.eq(quiet + 1)
    m.d.comb += Assert((quiet != _DRAIN) | (~dut.eject.valid & ~granted.any()))
    return Bench(m, [followed.choose, dut.requests, dut.eject.ready, *dut.ages, dut.favoured,
                     *dut.flits], [followed.active & (followed.ahead == 1), quiet == _DRAIN])


PROOFS = [
    Proof(block="ejection_port", size=f"{count} requesters",
          claim="ejects what it granted, in order, for this core only; the urgent take turns",
          bench=partial(_bench, count))
    for count in (1, 3)
]
