# SPDX-License-Identifier: BSD-2-Clause
"""The merge of several streams."""

from functools import partial

from amaranth.hdl import Assert, Assume, Cat, Module, Mux, Signal, Value

from hypercast.proofs.inside import Inside
from hypercast.proofs.lib.round_robin_arbiter import turns
from hypercast.proofs.proof import Proof
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import is_held, past
from hypercast.rtl.lib.stream_merge import StreamMerge

__all__ = ["PROOFS"]


def _between(count: int) -> tuple[Module, StreamMerge, Inside, list[Value]]:
    """A module with a merge whose inputs keep the rules, the merge, its inside, and its inputs."""
    m = Module()
    dut = StreamMerge(3, count)
    inside = Inside(m, dut)
    for source in dut.i:
        m.d.comb += Assume(is_held(m, source))
    return m, dut, inside, [dut.o.ready, *(signal for source in dut.i
                                           for signal in (source.valid, source.payload))]


def _delivers(count: int) -> Bench:
    m, dut, _, inputs = _between(count)
    taken = [source.valid & source.ready for source in dut.i]
    payload = 0
    for source, transfer in zip(dut.i, taken, strict=True):
        payload |= Mux(transfer, source.payload, 0)
    delivered = past(m, payload)
    m.d.comb += [Assert(is_held(m, dut.o)), Assert(sum(taken) <= 1)]
    with m.If(past(m, Cat(taken).any())):
        m.d.comb += Assert(dut.o.valid & (dut.o.payload == delivered))
    with m.If((~dut.o.valid | dut.o.ready) & Cat(source.valid for source in dut.i).any()):
        m.d.comb += Assert(Cat(taken).any())
    return Bench(m, inputs, [dut.o.valid & ~dut.o.ready, Cat(taken).any() & dut.o.valid])


def _is_fair(count: int) -> Bench:
    m, dut, inside, inputs = _between(count)
    before = turns(m, inside.signal("arbiter.later"))
    some = Cat(source.valid & source.ready for source in dut.i).any()
    reach = []
    for index, source in enumerate(dut.i):
        overtaken = Signal(range(count + 1), name=f"overtaken_{index}")
        with m.If(~source.valid | source.ready):
            m.d.sync += overtaken.eq(0)
        with m.Elif(some):
            m.d.sync += overtaken.eq(overtaken + 1)
        m.d.comb += Assert(overtaken + before[index] < count)
        reach.append(overtaken == count - 1)
    return Bench(m, inputs, reach)


PROOFS = [
    *(Proof(block="stream_merge", size=f"{count} inputs",
            claim="holds its output, delivers what it takes, one at a time, never idles in vain",
            bench=partial(_delivers, count))
      for count in range(1, 5)),
    *(Proof(block="stream_merge", size=f"{count} inputs",
            claim="lets each other input pass at most once while one waits",
            bench=partial(_is_fair, count))
      for count in range(1, 5)),
]
