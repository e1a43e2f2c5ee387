"""Proofs of the link: a command is new once, and only whole frames are ever seen."""

import pytest
from amaranth.hdl import Assert, Assume, Module, Signal

from hypercast.rtl.link.frame_buffer import FrameBuffer
from hypercast.rtl.link.protocol import WINDOW, Kind
from hypercast.rtl.link.session import Session
from tests.formal.proof import ProofFailedError, constant, held, past, prove


class ForgetsToAdvance(Session):
    """Carries a command out again if it comes again."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        m.d.sync += self.sequence.eq(0)
        return m


class CommitsTooEarly(FrameBuffer):
    """Shows words whose frame may turn out to be bad."""

    def elaborate(self, platform):
        m = super().elaborate(platform)
        m.d.sync += self.o.valid.eq(1)
        return m


def session_bench(dut):
    """Each command of a session is new at most once, unless there are 256 between."""
    m = Module()
    m.submodules.dut = dut
    chosen, taken = Signal(8), Signal()  # one sequence number, and whether its turn has come
    since = Signal(9)
    constant(m, chosen)
    opens = dut.open & (dut.header.session != 0) & (dut.header.session != dut.session)
    m.d.comb += [
        Assume(~dut.advance | dut.new),  # what the command unit does
        Assume(~dut.open | (dut.header.kind == Kind.OPEN)),
        Assert(~(dut.new & dut.repeated)),
        Assert(~(dut.new | dut.repeated) | (dut.header.session == dut.session)),
    ]
    with m.If(opens):
        m.d.sync += [taken.eq(0), since.eq(0)]
    with m.Elif(dut.advance):
        m.d.sync += since.eq(since + (since != 256))
        with m.If(dut.header.sequence == chosen):
            m.d.sync += [taken.eq(1), since.eq(0)]
    with m.If(taken & (since < 255)):
        m.d.comb += Assert(~(dut.new & (dut.header.sequence == chosen)))
        with m.If((dut.header.kind == Kind.COMMAND) & (dut.header.session == dut.session)
                  & (dut.header.sequence == chosen) & (since < WINDOW)):
            m.d.comb += Assert(dut.repeated)
    return m, [dut.header, dut.open, dut.advance, chosen], [
        taken & dut.repeated & (dut.header.sequence == chosen), taken & opens]


def test_session(tmp_path):
    prove(*session_bench(Session()), tmp_path, cycles=8)


def test_session_that_forgets(tmp_path):
    with pytest.raises(ProofFailedError):
        prove(*session_bench(ForgetsToAdvance()), tmp_path, cycles=8)


def buffer_bench(dut):
    """The n-th word of good frames that fitted is the n-th out; nothing else comes out."""
    m = Module()
    m.submodules.dut = dut
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
    return m, [dut.word, dut.write, dut.discard, dut.o.ready, chosen], [
        (out == 2) & dut.discard & (frame == 2), dut.o.valid & ~dut.o.ready & (out == 3)]


def test_frame_buffer(tmp_path):
    prove(*buffer_bench(FrameBuffer(4)), tmp_path, cycles=10)


def test_frame_buffer_that_commits_too_early(tmp_path):
    with pytest.raises(ProofFailedError):
        prove(*buffer_bench(CommitsTooEarly(4)), tmp_path, cycles=10)
