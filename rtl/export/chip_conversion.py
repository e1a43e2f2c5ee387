# SPDX-License-Identifier: BSD-2-Clause
"""Converts the chip to RTLIL and Verilog: each part once, and a top that instantiates them."""

from collections.abc import Callable
from pathlib import Path

from hypercast.rtl.chip import CONTROL_MODULE, CORE_MODULE, Chip
from hypercast.rtl.config import Config
from hypercast.rtl.control.control_unit import ControlUnit
from hypercast.rtl.core import Core
from hypercast.rtl.export.export_options import CHIP_MODULE, DEFAULT_OPTIONS, ExportOptions
from hypercast.rtl.export.notice import notice
from hypercast.rtl.export.rtlil import to_rtlil
from hypercast.rtl.export.top import top_verilog
from hypercast.rtl.export.verilog import write_verilog

__all__ = ["lint_waivers", "parts_to_rtlil", "to_verilog"]

_LINT_WAIVERS = Path(__file__).with_name("hypercast.vlt")


def lint_waivers(options: ExportOptions = DEFAULT_OPTIONS) -> str:
    """Verilator's control file with which ``verilator -Wall`` finds nothing."""
    return _LINT_WAIVERS.read_text(encoding="utf-8").replace("hypercast.v", f"{options.top}.v")


def parts_to_rtlil(config: Config, *, external: bool = False, bulk: bool = False, prefix: str = "",
                   zeros: bool = True) -> dict[str, str]:
    """RTLIL texts of the parts, by module name.

    ``external``, ``bulk`` and ``prefix`` are as in ``Chip``, ``zeros`` as in ``to_rtlil``.
    """
    core, control = f"{prefix}{CORE_MODULE}", f"{prefix}{CONTROL_MODULE}"
    return {core: to_rtlil(Core(config, external=external, bulk=bulk), core, zeros=zeros),
            control: to_rtlil(ControlUnit(config, bulk=bulk), control, zeros=zeros)}


def to_verilog(config: Config, options: ExportOptions = DEFAULT_OPTIONS, *,
               progress: Callable[[str], None] = lambda text: None) -> str:
    """The chip as Verilog: the top, the chip in it, and its parts with their submodules.

    The same text on every run and machine. It begins with the licence and the configuration.
    ``progress`` is called with a line of text before each slow step.
    """
    progress("converting cores and control unit")
    chip = to_rtlil(Chip(config, converted=True, external=options.external,
                         prefix=options.prefix, debug=options.debug),
                    f"{options.prefix}{CHIP_MODULE}")
    parts = parts_to_rtlil(config, external=options.external, prefix=options.prefix,
                           zeros=False)
    header = "".join(f"// {line}".rstrip() + "\n" for line in notice(config))
    progress("writing Verilog with Yosys")
    verilog = write_verilog(*parts.values(), chip, sources=options.sources,
                            ultra_ram=options.ultra_ram)
    return f"{header}\n{top_verilog(config, options)}\n{verilog}"
