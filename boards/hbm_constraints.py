# SPDX-License-Identifier: BSD-2-Clause
"""Pins, clocks and floorplan of a board with HBM, as XDC."""

from hypercast.boards.hbm_board import REFERENCE_CLOCK, HbmBoard
from hypercast.boards.vivado_flash import FLASH_INTERFACE

__all__ = ["floorplan", "pin_constraints"]

_PERIOD = 1e9 / REFERENCE_CLOCK
#: What is on die 0 besides cores: there are the HBM's ports and the PCIe block.
_AROUND = ("chip/control", "memory", "port")


def pin_constraints(board: HbmBoard) -> str:
    """XDC of pins, of clocks that enter, and of how the FPGA reads its flash memory.

    The lanes of PCIe have no line: their place follows from the transceivers that XDMA names.
    """
    pins = {"clock_p": (board.clock[0], board.clock_standard),
            "clock_n": (board.clock[1], board.clock_standard),
            "pcie_clock_p": (board.pcie_clock[0], None),
            "pcie_clock_n": (board.pcie_clock[1], None),
            "pcie_reset_n": (board.pcie_reset, board.pcie_reset_standard)}
    if board.overheated:
        pins["overheated"] = (board.overheated, "LVCMOS18")
    lines = []
    for port, (pin, standard) in pins.items():
        properties = f"PACKAGE_PIN {pin}" + (f" IOSTANDARD {standard}" if standard else "")
        lines.append(f"set_property -dict {{{properties}}} [get_ports {port}]")
    lines += [f"create_clock -name {name} -period {_PERIOD:.3f} [get_ports {name}_p]"
              for name in ("clock", "pcie_clock")]
    lines += ["set_property PULLUP TRUE [get_ports pcie_reset_n]",
              "set_false_path -from [get_ports pcie_reset_n]"]
    if board.overheated:
        lines += ["set_property PULLDOWN TRUE [get_ports overheated]",
                  "set_false_path -to [get_ports overheated]"]
    lines += [f"set_property {name} {value} [current_design]" for name, value in (
        ("CONFIG_VOLTAGE", "1.8"), ("BITSTREAM.GENERAL.COMPRESS", "TRUE"),
        ("CONFIG_MODE", FLASH_INTERFACE), ("BITSTREAM.CONFIG.SPI_BUSWIDTH", "4"),
        ("BITSTREAM.CONFIG.SPI_32BIT_ADDR", "YES"), ("BITSTREAM.CONFIG.SPI_FALL_EDGE", "YES"),
        ("BITSTREAM.CONFIG.CONFIGRATE", board.flash.rate),
        ("BITSTREAM.CONFIG.EXTMASTERCCLK_EN", "DISABLE"),
        ("BITSTREAM.CONFIG.CONFIGFALLBACK", "ENABLE"),
        ("BITSTREAM.CONFIG.UNUSEDPIN", "PULLUP"))]
    return "\n".join(lines) + "\n"


def floorplan(board: HbmBoard) -> str:
    """XDC that puts every core on its die; hints, which the placer may leave."""
    lines = []
    for die in range(len(board.dies)):
        cells = [f"chip/core_{core}" for core in range(board.cores) if board.die(core) == die]
        cells += _AROUND if die == 0 else ()
        lines += [f"create_pblock die_{die}",
                  f"resize_pblock [get_pblocks die_{die}] -add {{SLR{die}}}",
                  f"set_property IS_SOFT TRUE [get_pblocks die_{die}]",
                  f"add_cells_to_pblock [get_pblocks die_{die}] "
                  f"[get_cells [list {' '.join(cells)}]]"]
    return "\n".join(lines) + "\n"
