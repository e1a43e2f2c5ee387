# SPDX-License-Identifier: BSD-2-Clause
"""Takes frames out of a stream of bytes, and throws away what is none."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.serial.frame_word import CRC_32, FrameWord
from hypercast.rtl.serial.protocol import ESCAPE, ESCAPED, FLAG

__all__ = ["FrameReceiver"]


class FrameReceiver(wiring.Component):
    """Frames as in RFC 1662: between FLAGs, with ESCAPEs, CRC-32 in the last four bytes.

    A frame's words are given as they come; whether it is whole, and its check sequence right, is
    known with its last one only. A frame has at least two words, the check sequence included.

    Members
    -------
    data, valid, error : In(8), In(1), In(1)
        Bytes and errors of the line, as from ``UartReceiver``, at least two cycles apart.
    word : Out(FrameWord)
        Low byte first. The word marked ``last`` is the check sequence.
    write : Out(1)
        High for one cycle per word; with ``word.last`` the frame was good.
    discard : Out(1)
        High for one cycle: what was written since the last good frame is void.
    """

    data: In(8)
    valid: In(1)
    error: In(1)
    word: Out(FrameWord)
    write: Out(1)
    discard: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.crc = crc = CRC_32.create()
        value = Signal(8)
        gathered, count = Signal(24), Signal(2)  # bytes of the word that is coming
        held = Signal(32)  # the last whole word; the next one shows that it was not the last
        words = Signal(2)  # whole words, at most 2 counted
        escaped, spoiled = Signal(), Signal()

        m.d.comb += [
            value.eq(Mux(escaped, self.data ^ ESCAPED, self.data)),
            crc.data.eq(value),
            self.word.data.eq(held),
        ]
        with m.If(self.error):
            m.d.sync += spoiled.eq(1)
        with m.If(self.valid):
            with m.If(self.data == FLAG):
                good = (words == 2) & (count == 0) & ~escaped & ~spoiled & crc.match_detected
                m.d.comb += [
                    crc.start.eq(1), self.word.last.eq(1),
                    self.write.eq(good), self.discard.eq(~good),
                ]
                m.d.sync += [words.eq(0), count.eq(0), escaped.eq(0), spoiled.eq(0)]
            with m.Elif((self.data == ESCAPE) & ~escaped):
                m.d.sync += escaped.eq(1)
            with m.Else():
                m.d.comb += crc.valid.eq(1)
                m.d.sync += [
                    escaped.eq(0), count.eq(count + 1), gathered.eq(Cat(gathered[8:], value)),
                ]
                with m.If(count == 3):
                    m.d.comb += self.write.eq(words != 0)
                    m.d.sync += [
                        held.eq(Cat(gathered, value)), words.eq(Mux(words == 2, 2, words + 1)),
                    ]
        return m
