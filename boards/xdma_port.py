"""The chip's registers behind PCIe: XDMA, and the way from its clock to the chip's."""

from amaranth.hdl import ClockSignal, Const, Instance, Module, ResetSignal, Shape, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.boards.hbm_board import PCIE_LANES
from hypercast.rtl.control.axi_lite import AxiLite

__all__ = ["CROSSING_MODULE", "STREAM_WIDTH", "XDMA_MODULE", "XdmaPort"]

#: Module names of the "DMA/Bridge Subsystem for PCI Express" (AMD PG195), and of the
#: "AXI Clock Converter" (AMD PG059).
XDMA_MODULE = "hypercast_xdma"
CROSSING_MODULE = "hypercast_crossing"
#: Bits of the DMA's streams, which are not used.
STREAM_WIDTH = 128
#: Bits of an address as both modules have it.
_ADDRESS_WIDTH = 32


class XdmaPort(wiring.Component):
    """Register accesses of the host, in the chip's clock domain.

    Members
    -------
    pcie_clock_p, pcie_clock_n : In(1), In(1)
        PCIe's reference clock.
    pcie_reset_n : In(1)
        PCIe's reset.
    pcie_rx_p, pcie_rx_n, pcie_tx_p, pcie_tx_n : In(PCIE_LANES), Out(PCIE_LANES)
        Lanes.
    axi : Out(AxiLite)
        The chip's side.
    """

    def __init__(self) -> None:
        super().__init__({
            "pcie_clock_p": In(1), "pcie_clock_n": In(1), "pcie_reset_n": In(1),
            "pcie_rx_p": In(PCIE_LANES), "pcie_rx_n": In(PCIE_LANES),
            "pcie_tx_p": Out(PCIE_LANES), "pcie_tx_n": Out(PCIE_LANES),
            "axi": Out(AxiLite()),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        reference, halved, clk, reset_n = Signal(), Signal(), Signal(), Signal()
        m.submodules.clock_input = Instance(
            "IBUFDS_GTE4", i_I=self.pcie_clock_p, i_IB=self.pcie_clock_n, i_CEB=Const(0),
            o_O=reference, o_ODIV2=halved)
        subordinate, dma, manager = {}, {}, {}
        for name, member in self.axi.signature.members.items():
            chip_side = getattr(self.axi, name)
            width = _ADDRESS_WIDTH if name.endswith("addr") else Shape.cast(member.shape).width
            wire, far = Signal(width, name=f"xdma_{name}"), Signal(width, name=f"chip_{name}")
            outward, inward = ("o", "i") if member.flow == Out else ("i", "o")
            dma[f"{outward}_m_axil_{name}"] = wire
            subordinate[f"{inward}_s_axi_{name}"] = wire
            manager[f"{outward}_m_axi_{name}"] = far
            m.d.comb += chip_side.eq(far) if member.flow == Out else far.eq(chip_side)
        m.submodules.bridge = Instance(
            XDMA_MODULE,
            i_sys_clk=halved, i_sys_clk_gt=reference, i_sys_rst_n=self.pcie_reset_n,
            i_pci_exp_rxp=self.pcie_rx_p, i_pci_exp_rxn=self.pcie_rx_n,
            o_pci_exp_txp=self.pcie_tx_p, o_pci_exp_txn=self.pcie_tx_n,
            o_axi_aclk=clk, o_axi_aresetn=reset_n, i_usr_irq_req=Const(0),
            i_s_axis_c2h_tdata_0=Const(0, STREAM_WIDTH),
            i_s_axis_c2h_tkeep_0=Const(0, STREAM_WIDTH // 8),
            i_s_axis_c2h_tlast_0=Const(0), i_s_axis_c2h_tvalid_0=Const(0),
            i_m_axis_h2c_tready_0=Const(1), **dma)
        m.submodules.crossing = Instance(
            CROSSING_MODULE, i_s_axi_aclk=clk, i_s_axi_aresetn=reset_n,
            i_m_axi_aclk=ClockSignal(), i_m_axi_aresetn=~ResetSignal(), **subordinate, **manager)
        return m
