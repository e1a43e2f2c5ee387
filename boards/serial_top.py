# SPDX-License-Identifier: BSD-2-Clause
"""A board with a serial port: the chip and its link. Wiring only."""

from amaranth.hdl import ClockDomain, DomainRenamer, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from hypercast.rtl.chip import Chip
from hypercast.rtl.config import Config
from hypercast.rtl.folding.folded_chip import FoldedChip
from hypercast.rtl.serial.bit_period import bit_period
from hypercast.rtl.serial.protocol import BAUD
from hypercast.rtl.serial.serial_link import SerialLink

__all__ = ["SerialTop"]


class SerialTop(wiring.Component):
    """What every board with a UART has in common.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    clock : float
        Frequency of ``clk`` in Hz.
    baud : float
        Bits per second of the serial port.
    converted : bool
        Whether to refer to the chip's parts as modules, see ``Chip``.
    folded : bool
        Whether the chip is a ``FoldedChip``, which always refers to its core as a module.

    Members
    -------
    clk, rst : In(1), In(1)
        Clock, and synchronous reset of everything.
    rx : In(1, init=1)
        Line from the host; asynchronous.
    tx : Out(1, init=1)
        Line to the host.

    The chip has a domain of its own, "chip": the same clock, with the link's reset.

    Raises
    ------
    InputError
        If the clock does not allow the baud rate.
    """

    def __init__(self, config: Config, clock: int, *, baud: int = BAUD, converted: bool = False,
                 folded: bool = False) -> None:
        self._config = config
        self._bit_period = bit_period(clock, baud)
        self._chip = FoldedChip(config) if folded else Chip(config, converted=converted)
        self._folded = folded
        super().__init__({
            "clk": In(1), "rst": In(1), "rx": In(1, init=1), "tx": Out(1, init=1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        sync, chip_domain = ClockDomain("sync"), ClockDomain("chip")
        m.domains += [sync, chip_domain]
        m.submodules.link = link = SerialLink(
            self._config, self._bit_period, slots=self._config.cores if self._folded else 1)
        m.submodules.chip = DomainRenamer("chip")(self._chip)
        # One and the same signal: an assignment would make a second clock, later in simulation.
        sync.clk = chip_domain.clk = self.clk
        m.d.comb += [
            sync.rst.eq(self.rst), chip_domain.rst.eq(link.chip_reset),
            link.rx.eq(self.rx), self.tx.eq(link.tx),
        ]
        connect(m, link.axi, self._chip.axi)
        if self._folded:
            m.d.comb += self._chip.restart.eq(self.rst)
        return m
