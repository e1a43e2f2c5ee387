# SPDX-License-Identifier: BSD-2-Clause
"""A session of the link."""

from amaranth.hdl import Assert, Assume, Module, Signal

from hypercast.proofs.proof import Proof
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import constant
from hypercast.rtl.serial.protocol import WINDOW, FrameKind
from hypercast.rtl.serial.session import Session

__all__ = ["PROOFS"]


def _bench() -> Bench:
    """Each command of a session is new at most once, unless there are 256 between."""
    m = Module()
    m.submodules.dut = dut = Session()
    chosen, taken = Signal(8), Signal()  # one sequence number, and whether its turn has come
    since = Signal(9)
    constant(m, chosen)
    opens = dut.open & (dut.header.session != 0) & (dut.header.session != dut.session)
    m.d.comb += [
        Assume(~dut.advance | dut.new),  # what the command unit does
        Assume(~dut.open | (dut.header.kind == FrameKind.OPEN)),
        Assert(~(dut.new & dut.repeated)), Assert(~taken | (dut.session != 0)),
        Assert(since <= 256),
        Assert(~(dut.new | dut.repeated) | (dut.header.session == dut.session)),
    ]
    with m.If(opens):
        m.d.sync += [taken.eq(0), since.eq(0)]
    with m.Elif(dut.advance):
        m.d.sync += since.eq(since + (since != 256))
        with m.If(dut.header.sequence == chosen):
            m.d.sync += [taken.eq(1), since.eq(0)]
    with m.If(taken & (since < 256)):
        m.d.comb += Assert(dut.sequence == (chosen + 1 + since)[:8])
    with m.If(taken & (since < 255)):
        m.d.comb += Assert(~(dut.new & (dut.header.sequence == chosen)))
        with m.If((dut.header.kind == FrameKind.COMMAND) & (dut.header.session == dut.session)
                  & (dut.header.sequence == chosen) & (since < WINDOW)):
            m.d.comb += Assert(dut.repeated)
    return Bench(m, [dut.header, dut.open, dut.advance, chosen], [
        taken & dut.repeated & (dut.header.sequence == chosen), taken & opens])


PROOFS = [
    Proof(block="session", claim="a command is new once, unless 256 come between", bench=_bench),
]
