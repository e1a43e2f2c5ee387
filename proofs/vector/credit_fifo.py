# SPDX-License-Identifier: BSD-2-Clause
"""The FIFO at the end of a pipeline that cannot stall."""

from functools import partial

from amaranth.hdl import Assert, Assume, Module, Signal

from hypercast.proofs.followed import Followed
from hypercast.proofs.inside import Inside
from hypercast.proofs.lib.fifo import assert_buffered_fifo
from hypercast.proofs.proof import Proof
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import is_held
from hypercast.rtl.vector.credit_fifo import CreditFIFO

__all__ = ["PROOFS"]


def _bench(depth: int) -> Bench:
    """A pipeline of any latency, even one that changes, never finds the FIFO full."""
    m = Module()
    dut = CreditFIFO(2, depth)
    inside = Inside(m, dut)
    followed = Followed(m, depth, enters=dut.push, word=dut.i, leaves=dut.o.valid & dut.o.ready)
    under_way = Signal(range(depth + 1))  # in the pipeline
    m.d.sync += under_way.eq(under_way + dut.take - dut.push)
    m.d.comb += [
        Assume(~dut.take | dut.credit),
        Assume(~dut.push | (under_way != 0)),
        Assert(is_held(m, dut.o)),
        Assert(~(dut.o.valid & followed.next) | (dut.o.payload == followed.word)),
        Assert(dut.credit == (under_way + followed.count != depth)),
        Assert(inside.signal("used") == under_way + followed.count),
        Assert(under_way + followed.count <= depth),
    ]
    with m.If(dut.push):
        m.d.comb += Assert(inside.signal("queue.w_rdy"))
    assert_buffered_fifo(m, inside, "queue.", depth, followed)
    return Bench(m, [followed.choose, dut.take, dut.push, dut.i, dut.o.ready],
                 [~dut.credit & (under_way == 0), followed.active & (followed.ahead == depth - 1)])


PROOFS = [
    Proof(block="credit_fifo", size=f"depth {depth}", bench=partial(_bench, depth),
          claim="has room for what took a credit; loses nothing, keeps the order")
    for depth in (3, 4, 8)
]
