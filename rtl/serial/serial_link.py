# SPDX-License-Identifier: BSD-2-Clause
"""The serial link: a UART and the bridge behind it. Wiring only."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl.config import Config
from hypercast.rtl.control.axi_lite import AxiLite
from hypercast.rtl.serial.bridge import Bridge
from hypercast.rtl.serial.uart_receiver import UartReceiver
from hypercast.rtl.serial.uart_transmitter import UartTransmitter

__all__ = ["LINK_MODULE", "SerialLink", "link_signature"]

#: Module name of the link when it is converted on its own.
LINK_MODULE = "hypercast_link"


def link_signature() -> dict[str, wiring.Member]:
    """Members of the link."""
    return {
        "rx": In(1, init=1), "tx": Out(1, init=1),
        "axi": Out(AxiLite()), "chip_reset": Out(1, init=1),
    }


class SerialLink(wiring.Component):
    """Lets a host on a serial line use the chip's AXI4-Lite port.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    bit_period : int
        Cycles per bit, in 1/16; see ``bit_period.bit_period``.
    slots : int
        Cycles of the clock in one of the chip, see ``FoldedChip``.

    Members
    -------
    rx : In(1, init=1)
        Line from the host; asynchronous.
    tx : Out(1, init=1)
        Line to the host.
    axi : Out(AxiLite())
        The chip.
    chip_reset : Out(1, init=1)
        The chip's reset: high long enough to clear its accumulators, after the link's own reset
        and when the host asks for it.

    All outputs are registers.
    """

    def __init__(self, config: Config, bit_period: int, *, slots: int = 1) -> None:
        self._reset_cycles = config.reset_cycles * slots
        self._bit_period = bit_period
        super().__init__(link_signature())

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.receiver = receiver = UartReceiver(self._bit_period)
        m.submodules.transmitter = transmitter = UartTransmitter(self._bit_period)
        m.submodules.bridge = bridge = Bridge(self._reset_cycles)
        m.d.comb += [
            receiver.rx.eq(self.rx), self.tx.eq(transmitter.tx),
            bridge.data.eq(receiver.data), bridge.valid.eq(receiver.valid),
            bridge.error.eq(receiver.error), self.chip_reset.eq(bridge.chip_reset),
        ]
        connect(m, bridge.o, transmitter.i)
        connect(m, bridge.axi, flipped(self.axi))
        return m
