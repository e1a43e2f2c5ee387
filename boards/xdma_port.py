# SPDX-License-Identifier: BSD-2-Clause
"""The chip's ports behind PCIe: XDMA, and the way from its clock to the chip's."""

from collections.abc import Iterable, Mapping

from amaranth.hdl import ClockSignal, Const, Instance, Module, ResetSignal, Shape, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.boards.hbm_board import PCIE_LANES
from hypercast.rtl.control.axi_lite import AxiLite
from hypercast.rtl.control.bulk_burst import BulkAxi

__all__ = ["BULK_CROSSING_MODULE", "CROSSING_MODULE", "STREAM_WIDTH", "XDMA_MODULE", "XdmaPort"]

#: Module names of the "DMA/Bridge Subsystem for PCI Express" (AMD PG195), and of the
#: "AXI Clock Converter" (AMD PG059) of registers and of the bulk port.
XDMA_MODULE = "hypercast_xdma"
CROSSING_MODULE = "hypercast_crossing"
BULK_CROSSING_MODULE = "hypercast_bulk_crossing"
#: Bits of the DMA's data: of the bulk port's, or of streams, which are not used.
STREAM_WIDTH = 128
#: Bits of a register's address as both modules have it.
_ADDRESS_WIDTH = 32


class XdmaPort(wiring.Component):
    """Accesses of the host, in the chip's clock domain.

    Parameters
    ----------
    bulk : bool
        Whether its DMA goes to the chip's bulk port. Otherwise it is not used.

    Members
    -------
    pcie_clock_p, pcie_clock_n : In(1), In(1)
        PCIe's reference clock.
    pcie_reset_n : In(1)
        PCIe's reset.
    pcie_rx_p, pcie_rx_n, pcie_tx_p, pcie_tx_n : In(PCIE_LANES), Out(PCIE_LANES)
        Lanes.
    axi : Out(AxiLite)
        The chip's side, of registers.
    bulk : Out(BulkAxi)
        With ``bulk``, the chip's side of the DMA.
    """

    def __init__(self, *, bulk: bool = False) -> None:
        self._bulk = bulk
        port = {"bulk": Out(BulkAxi())} if bulk else {}
        super().__init__({
            "pcie_clock_p": In(1), "pcie_clock_n": In(1), "pcie_reset_n": In(1),
            "pcie_rx_p": In(PCIE_LANES), "pcie_rx_n": In(PCIE_LANES),
            "pcie_tx_p": Out(PCIE_LANES), "pcie_tx_n": Out(PCIE_LANES),
            "axi": Out(AxiLite()), **port,
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        reference, halved, clk, reset_n = Signal(), Signal(), Signal(), Signal()
        m.submodules.clock_input = Instance(
            "IBUFDS_GTE4", i_I=self.pcie_clock_p, i_IB=self.pcie_clock_n, i_CEB=Const(0),
            o_O=reference, o_ODIV2=halved)
        clocks = {"i_s_axi_aclk": clk, "i_s_axi_aresetn": reset_n,
                  "i_m_axi_aclk": ClockSignal(), "i_m_axi_aresetn": ~ResetSignal()}
        dma = self._cross(m, CROSSING_MODULE, "m_axil", (self.axi,), clocks, _ADDRESS_WIDTH)
        if self._bulk:
            dma |= self._cross(m, BULK_CROSSING_MODULE, "m_axi",
                               (self.bulk.write, self.bulk.read), clocks)
        else:
            dma |= {
                "i_s_axis_c2h_tdata_0": Const(0, STREAM_WIDTH),
                "i_s_axis_c2h_tkeep_0": Const(0, STREAM_WIDTH // 8),
                "i_s_axis_c2h_tlast_0": Const(0), "i_s_axis_c2h_tvalid_0": Const(0),
                "i_m_axis_h2c_tready_0": Const(1)}
        m.submodules.bridge = Instance(
            XDMA_MODULE,
            i_sys_clk=halved, i_sys_clk_gt=reference, i_sys_rst_n=self.pcie_reset_n,
            i_pci_exp_rxp=self.pcie_rx_p, i_pci_exp_rxn=self.pcie_rx_n,
            o_pci_exp_txp=self.pcie_tx_p, o_pci_exp_txn=self.pcie_tx_n,
            o_axi_aclk=clk, o_axi_aresetn=reset_n, i_usr_irq_req=Const(0), **dma)
        return m

    def _cross(self, m: Module, module: str, prefix: str, halves: Iterable[wiring.PureInterface],
               clocks: Mapping[str, Value], address_width: int | None = None) -> dict[str, Value]:
        """Take a manager of XDMA's to the chip's clock; returns XDMA's ports of it."""
        crossing, bridge = dict(clocks), {}
        for half in halves:
            for name, member in half.signature.members.items():
                chip_side = getattr(half, name)
                width = address_width if address_width and name.endswith("addr") \
                    else Shape.cast(member.shape).width
                wire = Signal(width, name=f"{prefix}_{name}")
                far = Signal(width, name=f"chip_{prefix}_{name}")
                outward, inward = ("o", "i") if member.flow == Out else ("i", "o")
                bridge[f"{outward}_{prefix}_{name}"] = wire
                crossing |= {f"{inward}_s_axi_{name}": wire, f"{outward}_m_axi_{name}": far}
                m.d.comb += chip_side.eq(far) if member.flow == Out else far.eq(chip_side)
        m.submodules[module.removeprefix("hypercast_")] = Instance(module, **crossing)
        return bridge
