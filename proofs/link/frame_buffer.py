"""The buffer of received frames."""

from amaranth.hdl import Assert, Assume, Module, Signal

from hypercast.proofs.proof import Proof
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import constant, held, past
from hypercast.rtl.link.frame_buffer import FrameBuffer

__all__ = ["PROOFS"]


def _bench():
    """The n-th word of good frames that fitted is the n-th out; nothing else comes out."""
    m = Module()
    m.submodules.dut = dut = FrameBuffer(4)
    chosen = Signal(3)
    constant(m, chosen)
    good, frame, out = Signal(4), Signal(4), Signal(4)  # words of good frames, of this one, taken
    kept, candidate = Signal(33), Signal(33)
    # Frames are short and the reader quick enough, so that there is always room.
    m.d.comb += [
        Assume(~(dut.write & dut.discard)), Assume(~dut.write | (good + frame - out < 4)),
        Assume(good + frame < 15),
        Assert(held(m, dut.o)), Assert(~dut.o.valid | (out < good)),
    ]
    last = dut.write & dut.word.last
    with m.If(dut.write):
        m.d.sync += frame.eq(frame + 1)
        with m.If(good + frame == chosen):
            m.d.sync += candidate.eq(dut.word)
    with m.If(last):
        m.d.sync += [good.eq(good + frame + 1), frame.eq(0)]
        with m.If(good + frame == chosen):
            m.d.sync += kept.eq(dut.word)
        with m.Elif((good <= chosen) & (chosen < good + frame)):
            m.d.sync += kept.eq(candidate)
    with m.If(dut.discard):
        m.d.sync += frame.eq(0)
    with m.If(dut.o.valid & dut.o.ready):
        m.d.sync += out.eq(out + 1)
    with m.If(dut.o.valid & (out == chosen)):
        m.d.comb += Assert(dut.o.payload.as_value() == kept)
    # A word that can be read is offered two cycles later at the latest.
    waiting = past(m, out < good) & past(m, past(m, out < good))
    m.d.comb += Assert(~(waiting & ~past(m, dut.o.valid & dut.o.ready)
                         & ~past(m, past(m, dut.o.valid & dut.o.ready))) | dut.o.valid)
    return Bench(m, [dut.word, dut.write, dut.discard, dut.o.ready, chosen], [
        (out == 2) & dut.discard & (frame == 2), dut.o.valid & ~dut.o.ready & (out == 3)])


PROOFS = [
    Proof(block="frame_buffer", size="4 words",
          claim="shows the words of good frames only, whole and in order, and soon",
          bench=_bench, cycles=10, limit="no invariant yet"),
]
