# SPDX-License-Identifier: BSD-2-Clause
"""Makes frames of words, as a stream of bytes."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.serial.frame_word import CRC_32, FrameWord
from hypercast.rtl.serial.protocol import ESCAPE, ESCAPED, FLAG

__all__ = ["FrameTransmitter"]


class FrameTransmitter(wiring.Component):
    """The opposite of ``FrameReceiver``: adds the check sequence, ESCAPEs and FLAGs.

    Members
    -------
    i : In(stream of FrameWord)
        A frame's words, without check sequence; the next must follow, or the line rests.
    o : Out(stream of 8)
        Bytes to send, low byte of each word first.
    """

    i: In(stream.Signature(FrameWord))
    o: Out(stream.Signature(8))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.crc = crc = CRC_32.create()
        index, escaped = Signal(2), Signal()
        value = Signal(8)
        special, sent = Signal(), Signal()
        m.d.comb += [
            special.eq(((value == FLAG) | (value == ESCAPE)) & ~escaped),
            sent.eq(self.o.valid & self.o.ready),
            crc.data.eq(value),
        ]

        def send_bytes() -> None:
            """Offer ``value``, escaped where need be, and count the bytes of a word."""
            m.d.comb += self.o.payload.eq(
                Mux(special, ESCAPE, Mux(escaped, value ^ ESCAPED, value)))
            with m.If(sent):
                m.d.sync += [escaped.eq(special), index.eq(index + ~special)]

        with m.FSM():
            for state, following in (("BEGIN", "WORDS"), ("END", "BEGIN")):
                with m.State(state):
                    m.d.comb += [
                        self.o.payload.eq(FLAG), crc.start.eq(1),
                        self.o.valid.eq(self.i.valid if state == "BEGIN" else 1),
                    ]
                    with m.If(sent):
                        m.next = following
            with m.State("WORDS"):
                m.d.comb += [
                    value.eq(self.i.payload.data.word_select(index, 8)),
                    self.o.valid.eq(self.i.valid), crc.valid.eq(sent & ~special),
                    self.i.ready.eq(sent & ~special & (index == 3)),
                ]
                send_bytes()
                with m.If(self.i.ready & self.i.payload.last):
                    m.next = "CHECK"
            with m.State("CHECK"):
                m.d.comb += [value.eq(crc.crc.word_select(index, 8)), self.o.valid.eq(1)]
                send_bytes()
                with m.If(sent & ~special & (index == 3)):
                    m.next = "END"
        return m
