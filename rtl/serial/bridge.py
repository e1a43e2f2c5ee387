# SPDX-License-Identifier: BSD-2-Clause
"""Bridge between bytes and the chip's AXI4-Lite port. Wiring only."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl.control.axi_lite import AxiLite
from hypercast.rtl.lib.skid_buffer import SkidBuffer
from hypercast.rtl.serial.axi_lite_manager import AxiLiteManager
from hypercast.rtl.serial.command_unit import CommandUnit
from hypercast.rtl.serial.frame_buffer import FrameBuffer
from hypercast.rtl.serial.frame_receiver import FrameReceiver
from hypercast.rtl.serial.frame_transmitter import FrameTransmitter
from hypercast.rtl.serial.frame_word import FrameWord
from hypercast.rtl.serial.header import Reply
from hypercast.rtl.serial.protocol import FRAME_WORDS, WINDOW
from hypercast.rtl.serial.reset_pulse import ResetPulse
from hypercast.rtl.serial.result_store import ResultStore

__all__ = ["Bridge"]


class Bridge(wiring.Component):
    """Receives commands, carries them out, and replies, all at the same time.

    Parameters
    ----------
    reset_cycles : int
        Length of the chip's reset.

    Members
    -------
    data, valid, error : In(8), In(1), In(1)
        What comes over the line, as from ``UartReceiver``.
    o : Out(stream of 8)
        What is to be sent.
    axi : Out(AxiLite())
        The chip.
    chip_reset : Out(1, init=1)
        The chip's reset; registered.
    """

    def __init__(self, reset_cycles: int) -> None:
        self._reset_cycles = reset_cycles
        super().__init__({
            "data": In(8), "valid": In(1), "error": In(1), "o": Out(stream.Signature(8)),
            "axi": Out(AxiLite()), "chip_reset": Out(1, init=1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.receiver = receiver = FrameReceiver()
        m.submodules.buffer = buffer = FrameBuffer(WINDOW * FRAME_WORDS)
        m.submodules.unit = unit = CommandUnit()
        m.submodules.manager = manager = AxiLiteManager()
        m.submodules.pulse = pulse = ResetPulse(self._reset_cycles)
        m.submodules.results = results = ResultStore()
        m.submodules.replies = replies = SyncFIFOBuffered(width=Reply.as_shape().size,
                                                          depth=WINDOW)
        # From the results' memory to the next address in it is a long way.
        m.submodules.words = words = SkidBuffer(FrameWord)
        m.submodules.transmitter = transmitter = FrameTransmitter()

        m.d.comb += [
            receiver.data.eq(self.data), receiver.valid.eq(self.valid),
            receiver.error.eq(self.error),
            buffer.word.eq(receiver.word), buffer.write.eq(receiver.write),
            buffer.discard.eq(receiver.discard),
            results.write.eq(unit.result_write), results.sequence.eq(unit.result_sequence),
            results.index.eq(unit.result_index), results.data.eq(unit.result),
            pulse.trigger.eq(unit.reset), unit.resetting.eq(pulse.reset),
            self.chip_reset.eq(pulse.reset),
            replies.w_en.eq(unit.reply.valid), unit.reply.ready.eq(replies.w_rdy),
            replies.w_data.eq(unit.reply.payload),
            results.reply.valid.eq(replies.r_rdy), replies.r_en.eq(results.reply.ready),
            results.reply.payload.eq(replies.r_data),
        ]
        connect(m, buffer.o, unit.i)
        connect(m, unit.bus, manager.bus)
        connect(m, manager.axi, flipped(self.axi))
        connect(m, results.o, words.i)
        connect(m, words.o, transmitter.i)
        connect(m, transmitter.o, flipped(self.o))
        return m
