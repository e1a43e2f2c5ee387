"""The example with a cocotb Makefile trains the exported Verilog, as a stranger would run it."""

import os
import re
import shutil
import subprocess
import sysconfig

import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.netlist import LINT_WAIVERS, to_verilog
from tests.cocotb.benches import require
from tests.packaging.source_tree import ROOT

#: Seconds that one run may take.
LIMIT = 560


@pytest.fixture(scope="session")
def verilog():
    """The text of the smallest preset."""
    return to_verilog(PRESETS["tiny"])


def make(folder, *options, verilog=None):
    """Run ``make`` in a copy of the example; returns its status and all that it says."""
    shutil.copytree(ROOT / "examples" / "cocotb", folder, ignore=shutil.ignore_patterns("build"))
    if verilog is not None:
        chip = folder / "build" / "tiny"
        chip.mkdir(parents=True)
        (chip / "hypercast.vlt").write_text(LINT_WAIVERS.read_text())
        (chip / "hypercast.v").write_text(verilog)
    scripts = sysconfig.get_path("scripts")
    environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("MAKEFLAGS", None)
    result = subprocess.run(["make", *options], cwd=folder, env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT)
    return result.returncode, result.stdout


def check(status, output):
    assert status == 0, output[-4000:]
    equal, words = re.findall(r"RTL = reference, (\d+) of (\d+) words", output)[-1]
    assert equal == words and int(words) > 100
    assert "FAIL=0" in output and "PASS=1" in output


@pytest.mark.parametrize("standard", ["2005", "2012"])
def test_icarus(standard, verilog, tmp_path):
    require("icarus")
    check(*make(tmp_path / "example", f"STANDARD={standard}", verilog=verilog))


@pytest.mark.slow
def test_the_makefile_writes_the_verilog(tmp_path):
    require("icarus")
    check(*make(tmp_path / "example", "STEPS=2"))
