# SPDX-License-Identifier: BSD-2-Clause
"""Carries out commands that came over the link, each once."""

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.control.axi_lite import RegisterBus
from hypercast.rtl.serial.frame_word import FrameWord
from hypercast.rtl.serial.header import AccessWord, Header, Reply
from hypercast.rtl.serial.protocol import LONGEST_ACCESS, WINDOW, AccessKind, FrameKind
from hypercast.rtl.serial.session import Session

__all__ = ["CommandUnit"]


class CommandUnit(wiring.Component):
    """Frames in, register accesses and replies out.

    A new command's accesses are made in order until one fails, does not fit the result, or lacks
    its data. What was read, and then how many succeeded, is the result. A command that comes again
    is answered with the result it had; any other frame, with the session's state.

    Members
    -------
    i : In(stream of FrameWord)
        Good frames, each with its check sequence as last word.
    bus : Out(RegisterBus())
        The chip's registers.
    reset : Out(1)
        High for one cycle to reset the chip.
    resetting : In(1)
        High from the next cycle on until that is over.
    result_write : Out(1)
        High to store a word of a result.
    result_sequence, result_index, result : Out(8), Out(8), Out(32)
        The command, which word, and the word; valid with ``result_write``.
    reply : Out(stream of Reply)
        What is to be sent.
    """

    i: In(stream.Signature(FrameWord))
    bus: Out(RegisterBus())
    reset: Out(1)
    resetting: In(1)
    result_write: Out(1)
    result_sequence: Out(8)
    result_index: Out(8)
    result: Out(32)
    reply: Out(stream.Signature(Reply))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.session = session = Session()
        word, bus, reply = self.i.payload, self.bus, self.reply.payload
        header, access = Signal(Header), Signal(AccessWord)
        done, length = Signal(32), Signal(8)  # accesses that succeeded, words of the result
        ended = Signal()  # the frame's last word was taken
        has_result = Signal()
        index_width = (WINDOW - 1).bit_length()
        lengths = Array(Signal(8, name=f"length_{index}") for index in range(WINDOW))

        m.d.comb += [
            session.header.eq(header),
            bus.address.eq(access.address[2:]),
            bus.write.eq(access.access == AccessKind.WRITE),
            self.result_sequence.eq(header.sequence),
            self.result_index.eq(length),
            self.result.eq(bus.result),
            reply.header.kind.eq(Mux(has_result, FrameKind.RESULT, FrameKind.STATE)),
            reply.header.sequence.eq(Mux(has_result, header.sequence, session.sequence)),
            reply.header.session.eq(session.session),
            reply.length.eq(Mux(has_result, lengths[header.sequence[:index_width]], 0)),
        ]
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += ended.eq(word.last)

        def succeed() -> None:
            m.d.sync += [done.eq(done + 1), access.count.eq(access.count - 1)]
            m.next = "EXECUTE"

        with m.FSM():
            with m.State("HEADER"):
                m.d.comb += self.i.ready.eq(1)
                m.d.sync += [header.eq(word.data), done.eq(0), length.eq(0)]
                with m.If(self.i.valid):
                    m.next = "SESSION"
            with m.State("SESSION"):
                m.d.comb += session.open.eq(header.kind == FrameKind.OPEN)
                m.d.sync += has_result.eq(session.new | session.repeated)
                m.next = "SKIP"
                with m.If(session.new):
                    m.next = "ACCESS"

            with m.State("ACCESS"):
                m.d.comb += self.i.ready.eq(1)
                m.d.sync += access.eq(word.data)
                with m.If(self.i.valid):
                    m.next = "EXECUTE"
                    with m.If(word.last):
                        m.next = "FINISH"
            with m.State("EXECUTE"):
                with m.If(access.count == 0):
                    m.next = "ACCESS"
                with m.Elif((access.access == AccessKind.READ) & (length != LONGEST_ACCESS)):
                    m.d.sync += bus.valid.eq(1)
                    m.next = "BUS"
                with m.Elif(access.access == AccessKind.WRITE):
                    m.d.comb += self.i.ready.eq(1)
                    m.d.sync += bus.data.eq(word.data)
                    with m.If(self.i.valid):
                        m.d.sync += bus.valid.eq(~word.last)
                        m.next = "BUS"
                        with m.If(word.last):
                            m.next = "FINISH"
                with m.Elif(access.access == AccessKind.RESET):
                    m.d.comb += self.reset.eq(1)
                    m.next = "RESET"
                with m.Else():
                    m.next = "FAIL"
            with m.State("BUS"), m.If(bus.done):
                m.d.sync += bus.valid.eq(0)
                with m.If(bus.error):
                    m.next = "FAIL"
                with m.Else():
                    succeed()
                    with m.If(~bus.write):
                        m.d.comb += self.result_write.eq(1)
                        m.d.sync += length.eq(length + 1)
            with m.State("RESET"), m.If(~self.resetting):
                succeed()

            with m.State("FAIL"):
                m.d.comb += self.i.ready.eq(~ended)
                with m.If(ended):
                    m.next = "FINISH"
            with m.State("FINISH"):
                m.d.comb += [self.result_write.eq(1), self.result.eq(done), session.advance.eq(1)]
                m.d.sync += lengths[header.sequence[:index_width]].eq(length + 1)
                m.next = "REPLY"
            with m.State("SKIP"):
                m.d.comb += self.i.ready.eq(~ended)
                with m.If(ended):
                    m.next = "REPLY"
            with m.State("REPLY"):
                m.d.comb += self.reply.valid.eq(1)
                with m.If(self.reply.ready):
                    m.next = "HEADER"
        return m
