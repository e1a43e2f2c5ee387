# SPDX-License-Identifier: BSD-2-Clause
"""The host's window."""

from amaranth.hdl import Assert, Assume, Cat, Module, Mux, Signal

from hypercast.proofs.configuration import small
from hypercast.proofs.inside import Inside
from hypercast.proofs.proof import Proof
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import past
from hypercast.rtl.control.window import TIMEOUT, Window
from hypercast.rtl.registers import ALL_CORES, CoreSpace, Space

__all__ = ["PROOFS"]


def _bench() -> Bench:
    """Each access is one request, if it is allowed, and ends once, in time.

    It ends with the answer, or with an error: at once if it is refused, or after ``TIMEOUT`` cycles
    without an answer.
    """
    m = Module()
    config = small()
    dut = Window(config)
    inside = Inside(m, dut)
    access = Cat(dut.core, dut.space, dut.address, dut.write, dut.data)
    busy, waiting, waited = Signal(), Signal(), Signal(range(TIMEOUT + 2))
    for_core = dut.space >= Space.FEATURES
    own = dut.space == Space.CORE
    every = own & (dut.core == ALL_CORES)
    upper = every & dut.address[7] & (dut.address >= CoreSpace.COUNTERS)
    allowed = (dut.space < len(Space)) & (~for_core | (dut.core < config.cores) | every) & (
        ~dut.running | own)
    begins = dut.access & allowed
    answered = waiting & dut.response_valid
    expired = waiting & ~dut.response_valid & (waited == TIMEOUT - 1)
    with m.If(dut.access):
        m.d.sync += [busy.eq(1), waiting.eq(allowed), waited.eq(0)]
    with m.Else():
        with m.If(dut.done):
            m.d.sync += busy.eq(0)
        with m.If(answered | expired):
            m.d.sync += waiting.eq(0)
        with m.If(waiting):
            m.d.sync += waited.eq(waited + 1)
    before = past(m, access)
    m.d.comb += [
        Assume(~(dut.access & busy)), Assume(~busy | (access == before)),
        Assert(dut.done == (past(m, dut.access & ~allowed) | past(m, answered | expired))),
        Assert(~dut.done | (dut.error == ~past(m, answered))),
        Assert(~dut.done | dut.error | (dut.result == past(m, dut.response))),
        Assert(dut.chip_valid == past(m, begins & ~for_core)),
        Assert(dut.core_valid == past(m, begins & for_core)),
        Assert(~busy | waiting | dut.done), Assert(~dut.done | (busy & ~waiting)),
        Assert(waited < TIMEOUT + ~waiting),
    ]
    request = dut.request
    with m.If(dut.chip_valid | dut.core_valid):
        m.d.comb += Assert((request.core == dut.core[:6]) & (request.space == dut.space[:3])
                           & (request.address == Mux(upper, dut.address ^ 0x80, dut.address))
                           & (dut.upper == upper) & (request.write == dut.write)
                           & (request.data == dut.data) & (request.all_cores == every))
    stays = Cat(request, dut.upper)
    m.d.comb += Assert(past(m, dut.access) | (stays == past(m, stays)))
    m.d.comb += [
        Assert(inside.state("", "WAIT") == waiting), Assert(~waiting | busy),
        Assert(~waiting | (inside.signal("waited") == waited)),
    ]
    return Bench(m, [dut.access, dut.core, dut.space, dut.address, dut.write, dut.data,
                     dut.running, dut.response, dut.response_valid],
                 [dut.done & dut.error, dut.done & ~dut.error, dut.core_valid & dut.running,
                  waited == 9])


PROOFS = [
    Proof(block="window", bench=_bench,
          claim="each allowed access is one request; each ends once, with its answer or in time"),
]
