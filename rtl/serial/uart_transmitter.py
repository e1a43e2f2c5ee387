# SPDX-License-Identifier: BSD-2-Clause
"""Sends bytes over a serial line."""

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.serial.bit_period import FRACTION, check_bit_period

__all__ = ["UartTransmitter"]

#: Start bit, eight data bits, stop bit.
_BITS = 10


class UartTransmitter(wiring.Component):
    """Sends bytes: 8 data bits, no parity, 1 stop bit; bytes follow each other without a gap.

    Parameters
    ----------
    bit_period : int
        Cycles per bit, in 1/16; see ``bit_period.bit_period``.

    Members
    -------
    i : In(stream of 8)
        What is to be sent.
    tx : Out(1, init=1)
        The line; registered.

    Raises
    ------
    InputError
        If a bit is too short.
    """

    def __init__(self, bit_period: int) -> None:
        check_bit_period(bit_period)
        self._bit_period = bit_period
        super().__init__({"i": In(stream.Signature(8)), "tx": Out(1, init=1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bits = Signal(range(_BITS + 1))  # still to be sent, the bit on the line included
        byte = Signal(_BITS - 1, init=-1)  # the bits after it
        left = Signal(range(2 * self._bit_period))  # sixteenths of a cycle of this bit
        ends = Signal()
        m.d.comb += [
            ends.eq(left < 2 * FRACTION),
            self.i.ready.eq((bits == 0) | ((bits == 1) & ends)),
        ]
        with m.If(bits != 0):
            m.d.sync += left.eq(left - FRACTION)
            with m.If(ends):
                m.d.sync += [
                    left.eq(left - FRACTION + self._bit_period),
                    bits.eq(bits - 1), Cat(self.tx, byte).eq(Cat(byte, Const(1, 1))),
                ]
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += [self.tx.eq(0), byte.eq(Cat(self.i.payload, Const(1, 1))), bits.eq(_BITS)]
            with m.If(bits == 0):
                m.d.sync += left.eq(self._bit_period)
        return m
