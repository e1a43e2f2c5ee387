# SPDX-License-Identifier: BSD-2-Clause
"""Keeps frames until they are read, and forgets frames that turn out to be bad."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hypercast.errors import InputError
from hypercast.rtl.serial.frame_word import FrameWord

__all__ = ["FrameBuffer"]


class FrameBuffer(wiring.Component):
    """A queue of words that are seen at its end only when their frame is complete.

    A frame for which there is no room is forgotten as a whole.

    Parameters
    ----------
    depth : int
        Words it holds; a power of two.

    Members
    -------
    word, write, discard : In(FrameWord), In(1), In(1)
        As ``FrameReceiver`` gives them.
    o : Out(stream of FrameWord)
        The words of good frames, in order.

    Raises
    ------
    InputError
        If ``depth`` is no power of two.
    """

    def __init__(self, depth: int) -> None:
        if depth < 2 or depth & (depth - 1):
            raise InputError(f"depth must be a power of two, not {depth}")
        self._depth = depth
        super().__init__({
            "word": In(FrameWord), "write": In(1), "discard": In(1),
            "o": Out(stream.Signature(FrameWord)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.memory = memory = Memory(shape=FrameWord, depth=self._depth, init=[])
        write, read = memory.write_port(), memory.read_port()
        pointer = range(2 * self._depth)  # their highest bit tells full from empty
        written = Signal(pointer)
        good = Signal(pointer)
        taken = Signal(pointer)
        next_good, next_taken = Signal(pointer), Signal(pointer)
        full, lost = Signal(), Signal()
        overrun = Signal()
        m.d.comb += [
            full.eq((written ^ taken) == self._depth),
            lost.eq(overrun | full),
            write.addr.eq(written), write.data.eq(self.word), write.en.eq(self.write & ~lost),
            next_good.eq(good),
        ]
        m.d.sync += good.eq(next_good)
        with m.If(self.write & ~lost):
            m.d.sync += written.eq(written + 1)
            with m.If(self.word.last):
                m.d.comb += next_good.eq(written + 1)
        with m.If(self.write & lost):
            m.d.sync += overrun.eq(1)
        with m.If(self.discard | (self.write & self.word.last & lost)):
            m.d.sync += [written.eq(good), overrun.eq(0)]

        m.d.comb += [
            next_taken.eq(taken + (self.o.valid & self.o.ready)),
            read.addr.eq(next_taken), self.o.payload.eq(read.data),
        ]
        # What is written in this cycle cannot be read before the next one.
        m.d.sync += [taken.eq(next_taken), self.o.valid.eq(next_taken != good)]
        return m
