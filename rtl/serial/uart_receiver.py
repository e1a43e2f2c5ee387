# SPDX-License-Identifier: BSD-2-Clause
"""Receives bytes from a serial line."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

from hypercast.rtl.serial.bit_period import FRACTION, check_bit_period

__all__ = ["UartReceiver"]


class UartReceiver(wiring.Component):
    """Receives bytes: 8 data bits, no parity, 1 stop bit.

    The line is sampled every cycle, by majority of three. A bit is taken in its middle, counted
    from the start bit's edge in fractions of a cycle, so that errors of rounding do not add up.
    After a byte without stop bit the line has to rest at one before the next can begin.

    Parameters
    ----------
    bit_period : int
        Cycles per bit, in 1/16; see ``bit_period.bit_period``.

    Members
    -------
    rx : In(1, init=1)
        The line; asynchronous.
    data : Out(8)
        The byte; valid with ``valid``.
    valid : Out(1)
        High for one cycle when a byte has come. There is no ready: a line does not wait.
    error : Out(1)
        High for one cycle when a byte has come without stop bit, or the line broke.

    Raises
    ------
    InputError
        If a bit is too short.
    """

    def __init__(self, bit_period: int) -> None:
        check_bit_period(bit_period)
        self._bit_period = bit_period
        super().__init__({
            "rx": In(1, init=1), "data": Out(8), "valid": Out(1), "error": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        synchronous = Signal(init=1)
        m.submodules.synchronizer = FFSynchronizer(self.rx, synchronous, init=1)
        samples, line = Signal(2, init=3), Signal(init=1)
        m.d.sync += [
            samples.eq(Cat(synchronous, samples)),
            line.eq((samples.all()) | (synchronous & samples.any())),
        ]

        # Sixteenths of a cycle until the middle of the next bit.
        left = Signal(range(2 * self._bit_period))
        middle = Signal()
        m.d.comb += middle.eq(left < 2 * FRACTION)
        m.d.sync += left.eq(left - FRACTION)
        with m.If(middle):
            m.d.sync += left.eq(left - FRACTION + self._bit_period)

        bits = Signal(range(8))
        m.d.sync += [self.valid.eq(0), self.error.eq(0)]
        with m.FSM():
            with m.State("IDLE"):
                m.d.sync += left.eq(self._bit_period // 2)
                with m.If(~line):
                    m.next = "START"
            with m.State("START"), m.If(middle):
                m.next = "DATA"
                with m.If(line):  # a spike
                    m.next = "IDLE"
            with m.State("DATA"), m.If(middle):
                m.d.sync += [self.data.eq(Cat(self.data[1:], line)), bits.eq(bits + 1)]
                with m.If(bits == 7):
                    m.next = "STOP"
            with m.State("STOP"), m.If(middle):
                m.d.sync += [self.valid.eq(line), self.error.eq(~line)]
                m.next = "IDLE"
                with m.If(~line):
                    m.next = "REST"
            with m.State("REST"), m.If(line):
                m.next = "IDLE"
        return m
