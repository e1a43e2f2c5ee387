# SPDX-License-Identifier: BSD-2-Clause
"""Keeps the results of the last commands, so that they can be sent again."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hypercast.rtl.serial.frame_word import FrameWord
from hypercast.rtl.serial.header import Reply
from hypercast.rtl.serial.protocol import FRAME_WORDS, WINDOW

__all__ = ["ResultStore"]


class ResultStore(wiring.Component):
    """A place of ``FRAME_WORDS`` words for each of the last ``WINDOW`` sequence numbers.

    Members
    -------
    write : In(1)
        High to write a word.
    sequence, index, data : In(8), In(8), In(32)
        Which command's result, which of its words, and the word; valid with ``write``.
    reply : In(stream of Reply)
        A frame to send. A host that has its results asks for no more of them, so what is being
        sent is overwritten only if it was sent before.
    o : Out(stream of FrameWord)
        The frame: its header, then ``length`` words.
    """

    write: In(1)
    sequence: In(8)
    index: In(8)
    data: In(32)
    reply: In(stream.Signature(Reply))
    o: Out(stream.Signature(FrameWord))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.memory = memory = Memory(
            shape=self.data.shape(), depth=WINDOW * FRAME_WORDS, init=[])
        write, read = memory.write_port(), memory.read_port()
        reply = self.reply.payload
        # Words, the header included.
        sent, next_sent = Signal.like(reply.length), Signal.like(reply.length)
        m.d.comb += [
            write.addr.eq(Cat(self.index, self.sequence)),  # of it, what numbers the places
            write.data.eq(self.data), write.en.eq(self.write),
            self.o.valid.eq(self.reply.valid),
            self.o.payload.data.eq(Mux(sent == 0, reply.header.as_value(), read.data)),
            self.o.payload.last.eq(sent == reply.length),
            self.reply.ready.eq(self.o.ready & self.o.payload.last),
            next_sent.eq(sent),
            # The word after the one that is sent: word n of the result is sent as n + 1.
            read.addr.eq(Cat((next_sent - 1)[:8], reply.header.sequence)),
        ]
        with m.If(self.o.valid & self.o.ready):
            m.d.comb += next_sent.eq(Mux(self.o.payload.last, 0, sent + 1))
        m.d.sync += sent.eq(next_sent)
        return m
