# SPDX-License-Identifier: BSD-2-Clause
"""A board with HBM: the chip, its memory, its PCIe port. Wiring only."""

from amaranth.hdl import ClockDomain, ClockSignal, Const, Instance, Module, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from hypercast.boards.hbm_board import CLOCK, PCIE_LANES, REFERENCE_CLOCK, HbmBoard, check
from hypercast.boards.hbm_memory import HbmMemory
from hypercast.boards.xdma_port import XdmaPort
from hypercast.rtl.chip import Chip
from hypercast.rtl.config import Config

__all__ = ["HbmTop"]

#: Frequency in Hz at which the clock generator oscillates.
_OSCILLATOR = 1_000_000_000


class HbmTop(wiring.Component):
    """What every board with HBM has in common.

    Chip and HBM ports share one clock; registers are reached through XDMA, in a clock domain of its
    own. The chip is in reset until the HBM is initialised, and never again after that: a read under
    way would come back to a chip that did not ask for it.

    Parameters
    ----------
    board : HbmBoard
        Board.
    config : Config
        Configuration of the chip.
    converted : bool
        Whether to refer to the chip's parts as modules, see ``Chip``.
    debug : bool
        Whether the chip contains a ``DebugTap``.
    bulk : bool
        Whether the chip has a bulk port, to which XDMA's DMA goes.

    Members
    -------
    clock_p, clock_n : In(1), In(1)
        Oscillator, ``REFERENCE_CLOCK``.
    pcie_clock_p, pcie_clock_n : In(1), In(1)
        PCIe's reference clock.
    pcie_reset_n : In(1)
        PCIe's reset.
    pcie_rx_p, pcie_rx_n, pcie_tx_p, pcie_tx_n : In(PCIE_LANES), Out(PCIE_LANES)
        Lanes.
    overheated : Out(1)
        If the board has a pin for it: high when a stack of HBM is too hot to go on.

    Raises
    ------
    ConfigurationError
        If the configuration does not fit the HBM.
    """

    def __init__(self, board: HbmBoard, config: Config, *, converted: bool = False,
                 debug: bool = False, bulk: bool = False) -> None:
        check(board, config)
        self._bulk = bulk
        self._config = config
        self._converted = converted
        self._debug = debug
        overheated = {"overheated": Out(1)} if board.overheated else {}
        super().__init__({
            "clock_p": In(1), "clock_n": In(1),
            "pcie_clock_p": In(1), "pcie_clock_n": In(1), "pcie_reset_n": In(1),
            "pcie_rx_p": In(PCIE_LANES), "pcie_rx_n": In(PCIE_LANES),
            "pcie_tx_p": Out(PCIE_LANES), "pcie_tx_n": Out(PCIE_LANES),
            **overheated,
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.domains.sync = sync = ClockDomain("sync")
        m.submodules.memory = memory = HbmMemory(self._config)
        m.submodules.port = port = XdmaPort(bulk=self._bulk)
        m.submodules.chip = chip = Chip(
            self._config, external=True, converted=self._converted, debug=self._debug,
            bulk=self._bulk)

        # Clocks and resets.
        oscillator, reference = Signal(), Signal()
        feedback, generated, locked = Signal(), Signal(), Signal()
        m.submodules.clock_input = Instance(
            "IBUFDS", i_I=self.clock_p, i_IB=self.clock_n, o_O=oscillator)
        m.submodules.reference_buffer = Instance("BUFG", i_I=oscillator, o_O=reference)
        m.submodules.clock_generator = Instance(
            "MMCME4_BASE", p_CLKIN1_PERIOD=1e9 / REFERENCE_CLOCK,
            p_CLKFBOUT_MULT_F=_OSCILLATOR / REFERENCE_CLOCK, p_CLKOUT0_DIVIDE_F=_OSCILLATOR / CLOCK,
            i_CLKIN1=reference, i_CLKFBIN=feedback, i_RST=Const(0), i_PWRDWN=Const(0),
            o_CLKFBOUT=feedback, o_CLKOUT0=generated, o_LOCKED=locked)
        m.submodules.clock_buffer = Instance("BUFG", i_I=generated, o_O=sync.clk)
        for name, source, reset in (("memory", ~locked, memory.reset),
                                    ("chip", ~(locked & memory.initialised), ResetSignal())):
            m.submodules[f"{name}_reset"] = Instance(
                "xpm_cdc_async_rst", p_DEST_SYNC_FF=4, p_RST_ACTIVE_HIGH=1,
                i_src_arst=source, i_dest_clk=ClockSignal(), o_dest_arst=reset)
        m.d.comb += memory.reference.eq(reference)

        # Memory.
        for index in range(2 * self._config.cores):
            connect(m, chip.memory[index], memory.channels[index])
        if "overheated" in self.signature.members:
            m.d.comb += self.overheated.eq(memory.overheated)

        # The host.
        connect(m, port.axi, chip.axi)
        if self._bulk:
            connect(m, port.bulk, chip.bulk)
        for name in ("pcie_clock_p", "pcie_clock_n", "pcie_reset_n", "pcie_rx_p", "pcie_rx_n"):
            m.d.comb += getattr(port, name).eq(getattr(self, name))
        m.d.comb += [self.pcie_tx_p.eq(port.pcie_tx_p), self.pcie_tx_n.eq(port.pcie_tx_n)]
        return m
