# SPDX-License-Identifier: BSD-2-Clause
"""The project that builds a board with a serial port, for the tools of its FPGA."""

import os
import re
import sysconfig
from pathlib import Path

from amaranth.build.run import BuildPlan

from hypercast.boards.serial_board import REMEDY, SerialBoard, is_folded
from hypercast.boards.serial_board_top import SerialBoardTop
from hypercast.boards.timing_checks import add_check
from hypercast.errors import NotFoundError
from hypercast.rtl.config import Config
from hypercast.rtl.export.chip_conversion import parts_to_rtlil
from hypercast.rtl.export.notice import notice
from hypercast.rtl.export.verilog import write_verilog
from hypercast.rtl.folding.folded_parts import folded_parts_to_rtlil

__all__ = ["AREA_FILE", "PROJECT", "TIMING_FILE", "chip_source", "project", "tools"]

#: Name of the project, its top module and its products.
PROJECT = "hypercast"
#: What Yosys says of cells, and nextpnr of clocks and places, as JSON.
AREA_FILE = "area.json"
TIMING_FILE = "timing.json"

#: Lines of RTLIL that say where something is defined, on this machine, or ask for UltraRAM, which
#: none of these boards has.
_NOT_WANTED = re.compile(r'^ *attribute \\(?:(?:\w+_)?src .*|ram_style "ultra")\n', re.MULTILINE)
_MODULE = re.compile(r"^module \\(\S+)$", re.MULTILINE)


def tools() -> dict[str, str]:
    """Environment variables that name the tools to Amaranth's build scripts.

    Raises
    ------
    NotFoundError
        If one is not installed.
    """
    programs = Path(sysconfig.get_path("scripts"))
    found = {variable: programs / f"yowasp-{name}" for variable, name in (
        ("YOSYS", "yosys"), ("NEXTPNR_ECP5", "nextpnr-ecp5"), ("ECPPACK", "ecppack"))}
    for program in found.values():
        if not program.exists():
            raise NotFoundError(f"there is no {program}; {REMEDY}")
    return {variable: str(program) for variable, program in found.items()}


def chip_source(board: SerialBoard, config: Config) -> str:
    """The chip's parts, in the language that the board's tools are given.

    The same text on every run and machine.
    """
    parts = (folded_parts_to_rtlil if is_folded(config) else parts_to_rtlil)(config).values()
    text, mark = (_NOT_WANTED.sub("", "\n".join(parts)), "#") if board.open_tools \
        else (write_verilog(*parts, ultra_ram=False), "//")
    header = "".join(f"{mark} {line}".rstrip() + "\n" for line in notice(config))
    return f"{header}\n{text}"


def project(board: SerialBoard, config: Config, chip: str) -> BuildPlan:
    """Everything the tools need, and a script ``build_hypercast.sh`` that runs them.

    Parameters
    ----------
    board : SerialBoard
        Board.
    config : Config
        Configuration of the chip.
    chip : str
        The chip's parts, as ``chip_source`` gives them.

    Returns
    -------
    amaranth.build.BuildPlan
        Files by name.

    Raises
    ------
    NotFoundError
        If a Python package is not installed.
    InputError
        If the board's clock does not suit.
    """
    platform = board.create_platform()
    platform.add_file(board.chip_file, chip)
    os.environ.update(tools())  # Amaranth writes Verilog with the Yosys named there
    plan: BuildPlan = platform.prepare(
        SerialBoardTop(board, config, folded=is_folded(config)), PROJECT, debug_verilog=False,
        emit_src=False, **(_open_tool_options(chip) if board.open_tools else {}))
    add_check(plan, board.toolchain, PROJECT)
    return plan


def _open_tool_options(chip: str) -> dict[str, str | list[str]]:
    """What Yosys and nextpnr are asked for."""
    # Cores are synthesised once; their blocks stay apart, so that each has an area.
    blocks = [name for name in _MODULE.findall(chip) if name.count(".") <= 1]
    return {
        "script_after_read": f"setattr -mod -set keep_hierarchy 1 {' '.join(blocks)}",
        # With multiplexers between LUTs Yosys spends many more LUTs.
        "synth_opts": ["-nowidelut"],
        "script_after_synth": f"tee -q -o {AREA_FILE} stat -json",
        "nextpnr_opts": ["--report", TIMING_FILE, "--router", "router2"],
    }
