# SPDX-License-Identifier: BSD-2-Clause
"""Compiles a board with a serial port: the chip as ever, and the link."""

from collections.abc import Callable
from pathlib import Path

from hypercast.rtl.config import Config
from hypercast.sim.chip_build import HARNESS_FLAGS, convert_chip
from hypercast.sim.library_build import Design, build

__all__ = ["BIT_PERIOD", "build_board"]

#: Length of a bit in 1/16 cycles: almost the shortest possible, and no whole number of cycles.
BIT_PERIOD = 72
#: Module name of a board that is compiled as one.
BOARD_MODULE = "hypercast_serial_top"
_FOLDER = Path(__file__).parent


def build_board(config: Config, *, folded: bool = False,
                progress: Callable[[str], None] = lambda text: None) -> Path:
    """The path of the shared library that simulates a board; see ``library_build.build``.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    folded : bool
        Whether the chip is a ``FoldedChip``. Then Verilator compiles the board: it is one large
        module, over which C++ compilers would take minutes as CXXRTL writes it.
    progress : callable
        Called with a line of text before each slow step.
    """
    line = _FOLDER / "serial_line.h", _FOLDER / "serial_interface.h"
    design = Design(
        config=config, harness=_FOLDER / "folded_harness.cpp", includes=line,
        convert=lambda folder: _convert_folded(config, folder), verilated=True,
    ) if folded else Design(
        config=config, harness=_FOLDER / "serial_harness.cpp", harness_flags=HARNESS_FLAGS,
        includes=(_FOLDER / "chip_harness.cpp", *line),
        convert=lambda folder: _convert(config, folder))
    return build(design, progress=progress)


def _convert_folded(config: Config, folder: Path) -> list[str]:
    """Write the C++ of a board with a folded chip to a folder; returns the names of its files."""
    from hypercast.boards.serial_top import SerialTop
    from hypercast.rtl.export.rtlil import to_rtlil
    from hypercast.rtl.export.verilog import write_verilog
    from hypercast.rtl.folding.folded_parts import folded_parts_to_rtlil
    from hypercast.rtl.serial.bit_period import FRACTION
    from hypercast.sim.verilator_build import verilate

    top = to_rtlil(SerialTop(config, BIT_PERIOD, baud=FRACTION, folded=True), BOARD_MODULE)
    source = folder / "board.v"
    source.write_text(write_verilog(*folded_parts_to_rtlil(config).values(), top))
    (folder / "board.h").write_text(_line())
    return verilate(source, top=BOARD_MODULE, folder=folder)


def _line() -> str:
    from hypercast.rtl.serial.bit_period import FRACTION

    return f"constexpr uint64_t kFraction = {FRACTION}, kBitPeriod = {BIT_PERIOD};\n"


def _convert(config: Config, folder: Path) -> list[str]:
    """Write the board's C++ to a folder; returns the names of its modules."""
    from hypercast.rtl.export.rtlil import to_rtlil
    from hypercast.rtl.serial.serial_link import LINK_MODULE, SerialLink
    from hypercast.sim.cxxrtl_convert import convert

    link = to_rtlil(SerialLink(config, BIT_PERIOD), LINK_MODULE)
    modules = convert({LINK_MODULE: link}, folder)
    (folder / "link.h").write_text(_header())
    return [*convert_chip(config, folder), *modules]


def _header() -> str:
    """The header ``link.h``, with the wires between link and chip."""
    from amaranth.lib.wiring import Out

    from hypercast.rtl.control.axi_lite import AxiLite
    from hypercast.rtl.serial.serial_link import LINK_MODULE
    from hypercast.sim.cxxrtl_names import cxx_name

    lines = [f'#include "{LINK_MODULE}.h"', "",
             _line(),
             "template <class Link, class Control> void exchange(Link &link, Control &control) {"]
    for name, member in AxiLite().members.items():
        source, destination = ("link", "control") if member.flow == Out else ("control", "link")
        port = cxx_name(f"axi__{name}")
        lines.append(f"    {destination}.take({destination}.module.{port}, "
                     f"current({source}.module.{port}));")
    return "\n".join([*lines, "}", ""])
