"""RTLIL, Yosys' language, of a component."""

import gc

from amaranth.back import rtlil
from amaranth.hdl import Elaboratable

__all__ = ["to_rtlil"]


def to_rtlil(component: Elaboratable, name: str) -> str:
    """Convert a component and what it consists of, in about half of Amaranth's own time.

    Conversion makes millions of objects that stay until its end. Python would look through all of
    them for cycles, again and again; so that is put off.

    Parameters
    ----------
    component : Elaboratable
        Component, or module.
    name : str
        Name of the module.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        return str(rtlil.convert(component, name=name))
    finally:
        if enabled:
            gc.enable()
