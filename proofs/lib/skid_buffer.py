# SPDX-License-Identifier: BSD-2-Clause
"""The skid buffer."""

from amaranth.hdl import Assert, Assume, Module, Value

from hypercast.proofs.followed import Followed
from hypercast.proofs.inside import Inside
from hypercast.proofs.proof import Proof
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import is_held
from hypercast.rtl.lib.skid_buffer import SkidBuffer

__all__ = ["PROOFS", "assert_skid_buffer"]


def assert_skid_buffer(m: Module, inside: Inside, path: str, valid: Value, payload: Value,
                       followed: Followed) -> None:
    """The invariant of a skid buffer in a part of a block.

    Parameters
    ----------
    m : Module
        The bench.
    inside : Inside
        The block.
    path : str
        Names of the part, each with a dot behind it; empty for the block itself.
    valid, payload : Value
        The buffer's output.
    followed : Followed
        Words inside.
    """
    empty, spare = inside.signal(f"{path}empty"), inside.signal(f"{path}spare")
    m.d.comb += [
        Assert(followed.count == valid + ~empty),
        Assert(valid | empty),
    ]
    with m.If(followed.active & (followed.ahead == 1)):
        m.d.comb += Assert(spare == followed.word)
    with m.If(followed.next):
        m.d.comb += Assert(payload == followed.word)


def _bench() -> Bench:
    m = Module()
    dut = SkidBuffer(3)
    inside = Inside(m, dut)
    followed = Followed(m, 2, enters=dut.i.valid & dut.i.ready, word=dut.i.payload,
                        leaves=dut.o.valid & dut.o.ready)
    m.d.comb += [
        Assume(is_held(m, dut.i)), Assert(is_held(m, dut.o)),
        Assert(dut.i.ready == (followed.count != 2)),
        Assert(dut.o.valid == (followed.count != 0)),
    ]
    assert_skid_buffer(m, inside, "", dut.o.valid, dut.o.payload, followed)
    return Bench(m, [followed.choose, dut.i.valid, dut.i.payload, dut.o.ready],
                 [~dut.i.ready, followed.active & (followed.ahead == 1)])


PROOFS = [
    Proof(block="skid_buffer", bench=_bench,
          claim="loses nothing, keeps the order, holds what it offers, always takes a second word"),
]
