# SPDX-License-Identifier: BSD-2-Clause
"""The vendor's IP on a board with HBM, as Tcl for Vivado."""

from collections.abc import Mapping

from hypercast.boards.hbm_board import CLOCK, PCIE_LANES, REFERENCE_CLOCK, HbmBoard
from hypercast.boards.hbm_memory import HBM_MODULE
from hypercast.boards.xdma_port import (
    BULK_CROSSING_MODULE,
    CROSSING_MODULE,
    STREAM_WIDTH,
    XDMA_MODULE,
)

__all__ = ["ip_script"]

#: Memory controllers of a stack, and their ports: two each, one per pseudo-channel.
_CONTROLLERS = 8
_PORTS = 16


def ip_script(board: HbmBoard, *, bulk: bool = False) -> str:
    """Tcl that creates and configures the IP.

    Parameters
    ----------
    board : HbmBoard
        Board.
    bulk : bool
        Whether XDMA's DMA goes to a bulk port of the chip.
    """
    ip = [("hbm", HBM_MODULE, _memory(board.stacks)), ("xdma", XDMA_MODULE, _xdma(board, bulk)),
          ("axi_clock_converter", CROSSING_MODULE,
           _crossing({"PROTOCOL": "AXI4LITE", "ADDR_WIDTH": 32, "DATA_WIDTH": 32}))]
    if bulk:
        ip.append(("axi_clock_converter", BULK_CROSSING_MODULE, _crossing(
            {"PROTOCOL": "AXI4", "ADDR_WIDTH": 64, "DATA_WIDTH": STREAM_WIDTH, "ID_WIDTH": 4})))
    return "\n".join(_create(*item) for item in ip)


def _create(kind: str, module: str, settings: Mapping[str, object]) -> str:
    properties = "".join(f"    CONFIG.{name} {{{value}}} \\\n" for name, value in settings.items())
    return (f"create_ip -vendor xilinx.com -library ip -name {kind} -module_name {module}\n"
            f"set_property -dict [list \\\n{properties}] [get_ips {module}]\n"
            f"generate_target all [get_ips {module}]\n")


def _memory(stacks: int) -> dict[str, object]:
    """HBM (PG276): stacks in use; no switch, so that no channel can disturb another."""
    settings: dict[str, object] = {
        "USER_HBM_DENSITY": f"{4 * stacks}GB", "USER_HBM_STACK": stacks,
        "USER_APB_EN": "false", "USER_XSDB_INTF_EN": "FALSE",
    }
    for stack in range(stacks):
        settings |= {
            f"USER_HBM_REF_CLK_{stack}": REFERENCE_CLOCK // 1_000_000,
            f"USER_AXI_INPUT_CLK{stack or ''}_FREQ": CLOCK // 1_000_000,
            f"USER_CLK_SEL_LIST{stack}": f"AXI_{stack * _PORTS:02}_ACLK",
            f"USER_SWITCH_ENABLE_{stack:02}": "FALSE",
        }
    return {**settings,
            **{f"USER_MC_ENABLE_{number:02}": "TRUE" for number in range(stacks * _CONTROLLERS)},
            **{f"USER_SAXI_{number:02}": "true" for number in range(stacks * _PORTS)}}


def _xdma(board: HbmBoard, bulk: bool) -> dict[str, object]:
    """XDMA (PG195): AXI4-Lite behind a BAR of 4 KiB; of the DMA a channel in each direction.

    The DMA is a manager of AXI4 for the bulk port. Without it, it has streams, which take less.
    """
    return {
        "functional_mode": "DMA", "mode_selection": "Advanced",
        "pcie_blk_locn": board.pcie_block,
        "en_gt_selection": "true", "select_quad": board.pcie_quad,
        "pl_link_cap_max_link_width": f"X{PCIE_LANES}",
        "pl_link_cap_max_link_speed": "8.0_GT/s",
        "ref_clk_freq": f"{REFERENCE_CLOCK // 1_000_000}_MHz",
        "axi_data_width": f"{STREAM_WIDTH}_bit", "axisten_freq": 250,
        "axilite_master_en": "true", "axilite_master_size": 4,
        "axilite_master_scale": "Kilobytes", "pciebar2axibar_axil_master": "0x00000000",
        "xdma_axi_intf_mm": "AXI_Memory_Mapped" if bulk else "AXI_Stream",
        "xdma_rnum_chnl": 1, "xdma_wnum_chnl": 1, "xdma_num_usr_irq": 1, "cfg_mgmt_if": "false",
        "pf0_base_class_menu": "Processing_accelerators",
        "pf0_sub_class_interface_menu": "Unknown",
    }


def _crossing(protocol: Mapping[str, object]) -> dict[str, object]:
    """AXI clock converter (PG059)."""
    return {**protocol, "ACLK_ASYNC": 1, "SYNCHRONIZATION_STAGES": 3}
