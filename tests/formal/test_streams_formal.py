"""Proofs that the stream library keeps the stream rules."""

import pytest
from amaranth.hdl import Assert, Assume, Cat, Module, Mux, Signal
from amaranth.lib.fifo import SyncFIFO

from hypercast.rtl.lib.stream_merge import StreamMerge
from hypercast.rtl.lib.unpacker import Unpacker
from tests.formal import contracts
from tests.formal.proof import held, past, prove


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_fifo(depth, tmp_path):
    """Loses nothing, keeps the order, and its flags say how much is inside."""
    prove(*contracts.fifo(SyncFIFO(width=2, depth=depth)), tmp_path, cycles=10)


def merge_bench(count):
    """A module with a ``StreamMerge`` whose inputs keep the rules, the merge, and its inputs."""
    m = Module()
    m.submodules.dut = dut = StreamMerge(3, count)
    for source in dut.i:
        m.d.comb += Assume(held(m, source))
    return m, dut, [dut.o.ready, *(signal for source in dut.i
                                   for signal in (source.valid, source.payload))]


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_stream_merge(count, tmp_path):
    """Holds its output, delivers what it takes, one at a time, and never idles in vain."""
    m, dut, inputs = merge_bench(count)
    taken = [source.valid & source.ready for source in dut.i]
    payload = 0
    for source, transfer in zip(dut.i, taken, strict=True):
        payload |= Mux(transfer, source.payload, 0)
    delivered = past(m, payload)
    m.d.comb += [Assert(held(m, dut.o)), Assert(sum(taken) <= 1)]
    with m.If(past(m, Cat(taken).any())):
        m.d.comb += Assert(dut.o.valid & (dut.o.payload == delivered))
    with m.If((~dut.o.valid | dut.o.ready) & Cat(source.valid for source in dut.i).any()):
        m.d.comb += Assert(Cat(taken).any())
    # Of three inputs, two bits name the last one served: a state only the reset excludes.
    reach = [dut.o.valid & ~dut.o.ready, Cat(taken).any() & dut.o.valid]
    prove(m, inputs, reach, tmp_path, cycles=12 if count == 3 else None)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_stream_merge_is_fair(count, tmp_path):
    """No input sees more transfers of others, while it waits, than there are others."""
    m, dut, inputs = merge_bench(count)
    some = Cat(source.valid & source.ready for source in dut.i).any()
    reach = []
    for index, source in enumerate(dut.i):
        overtaken = Signal(range(count + 1), name=f"overtaken_{index}")
        with m.If(~source.valid | source.ready):
            m.d.sync += overtaken.eq(0)
        with m.Elif(some):
            m.d.sync += overtaken.eq(overtaken + 1)
        m.d.comb += Assert(overtaken < count)
        reach.append(overtaken == count - 1)
    prove(m, inputs, reach, tmp_path, cycles=12)


@pytest.mark.parametrize(("word_width", "record_width"), [(8, 2), (6, 2), (4, 4), (2, 4), (2, 8)])
def test_unpacker(word_width, record_width, tmp_path):
    """Holds its output but for a flush, never refuses a word while it offers nothing."""
    m = Module()
    m.submodules.dut = dut = Unpacker(word_width, record_width)
    m.d.comb += [
        Assume(held(m, dut.i)),
        Assert(held(m, dut.o) | past(m, dut.flush)),
        Assert(dut.o.valid | dut.i.ready),
    ]
    prove(m, [dut.i.valid, dut.i.payload, dut.o.ready, dut.flush],
          [dut.o.valid & ~dut.o.ready, dut.i.valid & ~dut.i.ready], tmp_path)
