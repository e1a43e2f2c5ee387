"""Converts the chip to RTLIL and Verilog: each part once, and a top that instantiates them."""

from pathlib import Path

from hypercast.rtl.chip import CONTROL_MODULE, CORE_MODULE, Chip
from hypercast.rtl.config import Config
from hypercast.rtl.control.control_unit import ControlUnit
from hypercast.rtl.core import Core
from hypercast.rtl.export.notice import notice
from hypercast.rtl.export.rtlil import to_rtlil
from hypercast.rtl.export.verilog import write_verilog

__all__ = ["LINT_WAIVERS", "TOP_MODULE", "parts_to_rtlil", "to_verilog"]

#: Name of the top module.
TOP_MODULE = "hypercast"
#: Verilator's control file with which ``verilator -Wall`` finds nothing.
LINT_WAIVERS = Path(__file__).with_name("hypercast.vlt")


def parts_to_rtlil(config: Config, *, external: bool = False) -> dict[str, str]:
    """RTLIL texts of the parts, by module name; ``external`` as of ``Chip``."""
    return {CORE_MODULE: to_rtlil(Core(config, external=external), CORE_MODULE),
            CONTROL_MODULE: to_rtlil(ControlUnit(config), CONTROL_MODULE)}


def to_verilog(config: Config) -> str:
    """The chip as Verilog: the parts with their submodules, and top ``hypercast``.

    The same text on every run and machine. It begins with the licence and the configuration.
    """
    top = to_rtlil(Chip(config, converted=True), TOP_MODULE)
    header = "".join(f"// {line}".rstrip() + "\n" for line in notice(config))
    return f"{header}\n{write_verilog(*parts_to_rtlil(config).values(), top)}"
