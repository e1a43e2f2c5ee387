# SPDX-License-Identifier: BSD-2-Clause
"""The buffer of received frames."""

from functools import partial

from amaranth.hdl import Assert, Assume, Module, Mux, Signal

from hypercast.proofs.inside import Inside
from hypercast.proofs.proof import Proof
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import is_held, past
from hypercast.rtl.serial.frame_buffer import FrameBuffer

__all__ = ["PROOFS"]


def _bench(depth: int) -> Bench:
    """Words of good frames come out whole, in order, two cycles later at the latest; no others.

    Frames are short and the reader quick enough, so that there is always room.
    """
    m = Module()
    dut = FrameBuffer(depth)
    inside = Inside(m, dut)
    good, frame = Signal(range(depth + 1)), Signal(range(depth + 1))  # not taken; of this frame
    taken = dut.o.valid & dut.o.ready
    choose, followed, ahead = Signal(), Signal(), Signal(range(depth))
    kept = Signal(len(dut.word.as_value()))
    m.d.comb += [
        Assume(~(dut.write & dut.discard)), Assume(~dut.write | (good + frame < depth)),
        Assert(is_held(m, dut.o)), Assert(~dut.o.valid | (good != 0)),
    ]
    with m.If(dut.write & dut.word.last):
        m.d.sync += [good.eq(good + frame + 1 - taken), frame.eq(0)]
    with m.Else():
        m.d.sync += [good.eq(good - taken), frame.eq(Mux(dut.discard, 0, frame + dut.write))]
    with m.If(~followed):
        m.d.sync += [followed.eq(dut.write & choose), kept.eq(dut.word),
                     ahead.eq(good + frame - taken)]
    with m.Else():
        m.d.sync += ahead.eq(ahead - taken)
        with m.If((taken & (ahead == 0)) | (dut.discard & (ahead >= good))):
            m.d.sync += followed.eq(0)
    m.d.comb += [
        Assert(~(dut.o.valid & followed & (ahead == 0)) | (dut.o.payload.as_value() == kept)),
        Assert(~followed | (ahead < good + frame)),
    ]
    # A word that can be read is offered two cycles later at the latest.
    some = past(m, good != 0)
    m.d.comb += Assert(~(some & ~past(m, taken)) | dut.o.valid)

    written, committed = inside.signal("written"), inside.signal("good")
    read = inside.signal("taken")
    stored = inside.word("memory", (read + ahead)[:(depth - 1).bit_length()])
    m.d.comb += [
        Assert((committed - read)[:len(read)] == good), Assert(good + frame <= depth),
        Assert((written - committed)[:len(read)] == frame), Assert(~inside.signal("overrun")),
        Assert(~followed | (stored == kept)),
    ]
    return Bench(m, [dut.word, dut.write, dut.discard, dut.o.ready, choose], [
        followed & (ahead == 2) & dut.discard & (frame == 2),
        dut.o.valid & ~dut.o.ready & (good + frame == depth)])


PROOFS = [
    Proof(block="frame_buffer", size="4 words",
          claim="shows the words of good frames only, whole and in order, and soon",
          bench=partial(_bench, 4)),
]
