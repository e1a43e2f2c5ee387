"""Converts the chip to RTLIL and Verilog: the core once, and a top that instantiates it."""

from amaranth.back import rtlil, verilog

from hypercast.rtl.chip import Chip, CoreInstance
from hypercast.rtl.core import Core

__all__ = ["to_rtlil", "to_verilog"]


def to_rtlil(config):
    """The chip as two RTLIL texts: module ``hypercast_core`` and top ``hypercast``."""
    return (rtlil.convert(Core(config), name="hypercast_core"),
            rtlil.convert(Chip(config, core=CoreInstance), name="hypercast"))


def to_verilog(config):
    """The chip as Verilog: module ``hypercast_core``, its submodules, and top ``hypercast``."""
    parts = (verilog.convert(Core(config), name="hypercast_core", strip_internal_attrs=True),
             verilog.convert(Chip(config, core=CoreInstance), name="hypercast",
                             strip_internal_attrs=True))
    return "\n".join(parts)
