# SPDX-License-Identifier: BSD-2-Clause
"""A Vivado project for a board with HBM, as texts of files."""

from hypercast.boards.hbm_board import HbmBoard
from hypercast.boards.hbm_constraints import floorplan, pin_constraints
from hypercast.boards.hbm_top import HbmTop
from hypercast.boards.vivado_build import build_script
from hypercast.boards.vivado_debug import DEBUG_SCRIPT, debug_script
from hypercast.boards.vivado_flash import flash_image, flash_script
from hypercast.boards.vivado_ip import ip_script
from hypercast.rtl.config import Config
from hypercast.rtl.export.chip_conversion import parts_to_rtlil
from hypercast.rtl.export.notice import notice
from hypercast.rtl.export.rtlil import to_rtlil
from hypercast.rtl.export.verilog import write_verilog

__all__ = ["TOP_MODULE", "board_scripts", "board_verilog"]

#: Name of the board's top module.
TOP_MODULE = "hypercast_board"

_SETUP = f"""\
add_files -fileset constrs_1 -norecurse [list [file join $folder pins.xdc] \\
    [file join $folder floorplan.xdc]]
# These name cells, which are there after synthesis only.
set_property USED_IN_SYNTHESIS false [get_files floorplan.xdc]
set_property XPM_LIBRARIES {{XPM_CDC}} [current_project]
set_property top {TOP_MODULE} [current_fileset]
source [file join $folder ip.tcl]
update_compile_order -fileset sources_1
"""


def board_verilog(board: HbmBoard, config: Config, *, debug: bool = False,
                  bulk: bool = False) -> str:
    """The board as Verilog, but for the vendor's IP; the same text on every run and machine.

    Parameters
    ----------
    board : HbmBoard
        Board.
    config : Config
        Configuration of the chip.
    debug : bool
        Whether the chip contains a ``DebugTap``.
    bulk : bool
        Whether the chip has a bulk port.

    Raises
    ------
    ConfigurationError
        If the configuration does not fit the board.
    """
    top = to_rtlil(HbmTop(board, config, converted=True, debug=debug, bulk=bulk), TOP_MODULE)
    parts = parts_to_rtlil(config, external=True, bulk=bulk, zeros=False)
    return f"{_header(config, '//')}\n{write_verilog(*parts.values(), top)}"


def board_scripts(board: HbmBoard, config: Config, name: str, *,
                  debug: bool = False, bulk: bool = False) -> dict[str, str]:
    """Scripts and constraints by file name.

    Parameters
    ----------
    board : HbmBoard
        Board.
    config : Config
        Configuration of the chip.
    name : str
        Name of the project; the board's Verilog is in ``NAME.v``.
    debug : bool
        Whether a logic analyser watches what the chip's ``DebugTap`` marks.
    bulk : bool
        Whether the chip has a bulk port.
    """
    header = _header(config, "#")
    scripts = {
        "build.tcl": build_script(
            title=board.title, name=name, part=board.part, top=TOP_MODULE, setup=_SETUP,
            debug=debug)
        + flash_image(board.flash, name),
        "ip.tcl": ip_script(board, bulk=bulk), "pins.xdc": pin_constraints(board),
        "floorplan.xdc": floorplan(board),
        "flash.tcl": flash_script(board.flash, name, title=board.title, part=board.part),
        **({DEBUG_SCRIPT: debug_script()} if debug else {}),
    }
    return {file: f"{header}\n{text}" for file, text in scripts.items()}


def _header(config: Config, comment: str) -> str:
    return "".join(f"{comment} {line}".rstrip() + "\n" for line in notice(config))
