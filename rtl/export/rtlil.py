# SPDX-License-Identifier: BSD-2-Clause
"""RTLIL, Yosys' language, of a component."""

import contextlib
import gc
from collections.abc import Iterator
from typing import Any
from unittest import mock

from amaranth.back import rtlil
from amaranth.hdl import Elaboratable

from hypercast.rtl.export.variable_names import named_by_variables

__all__ = ["to_rtlil"]


@contextlib.contextmanager
def _implied_zeros() -> Iterator[None]:
    """While this is entered, memories of zeros are converted without initial values.

    Amaranth makes an object of every initial bit: ten minutes for channels of a million words.
    """
    emit_memory = rtlil.ModuleEmitter.emit_memory

    def emit_unless_zero(emitter: Any, index: Any, cell: Any) -> None:
        if any(cell.init):
            emit_memory(emitter, index, cell)

    with mock.patch.object(rtlil.ModuleEmitter, "emit_memory", emit_unless_zero):
        yield


def to_rtlil(component: Elaboratable, name: str, *, zeros: bool = True) -> str:
    """Convert a component and what it consists of, in about half of Amaranth's own time.

    Conversion makes millions of objects that stay until its end. Python would look through all of
    them for cycles, again and again; so that is put off.

    Parameters
    ----------
    component : Elaboratable
        Component, or module.
    name : str
        Name of the module.
    zeros : bool
        Whether memories that begin with zeros say so. What reads the text may take it for granted,
        as ``write_verilog`` and CXXRTL do; large memories are converted much sooner then.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        with named_by_variables(), contextlib.nullcontext() if zeros else _implied_zeros():
            return str(rtlil.convert(component, name=name))
    finally:
        if enabled:
            gc.enable()
