"""Converts the chip to RTLIL and Verilog: each part once, and a top that instantiates them."""

from amaranth.back import rtlil

from hypercast.rtl.chip import CONTROL_MODULE, CORE_MODULE, Chip
from hypercast.rtl.control.control_unit import ControlUnit
from hypercast.rtl.core import Core
from hypercast.rtl.verilog import write_verilog

__all__ = ["TOP_MODULE", "parts_to_rtlil", "to_verilog"]

#: Name of the top module.
TOP_MODULE = "hypercast"


def parts_to_rtlil(config):
    """RTLIL texts of the parts, by module name."""
    return {CORE_MODULE: rtlil.convert(Core(config), name=CORE_MODULE),
            CONTROL_MODULE: rtlil.convert(ControlUnit(config), name=CONTROL_MODULE)}


def to_verilog(config):
    """The chip as Verilog: the parts with their submodules, and top ``hypercast``."""
    top = rtlil.convert(Chip(config, converted=True), name=TOP_MODULE)
    return write_verilog(*parts_to_rtlil(config).values(), top)
