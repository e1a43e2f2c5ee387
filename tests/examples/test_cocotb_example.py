# SPDX-License-Identifier: BSD-2-Clause
"""The examples with cocotb on the exported Verilog, as a stranger would run them."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig

import pytest

from hypercast.cocotb import SimulationError, run
from hypercast.rtl.config import PRESETS
from hypercast.rtl.export.chip_conversion import lint_waivers, to_verilog
from hypercast.rtl.export.export_options import ExportOptions
from hypercast.rtl.export.manifest import manifest
from tests.cocotb.benches import require
from tests.packaging.source_tree import ROOT

#: Seconds that one run may take.
LIMIT = 560


def exported(folder, *, external=False):
    """A folder with the smallest preset, as ``hypercast verilog`` writes it."""
    options = ExportOptions(external=external)
    for name, text in {"hypercast.v": to_verilog(PRESETS["tiny"], options),
                       "hypercast.vlt": lint_waivers(options),
                       "manifest.json": json.dumps(manifest(PRESETS["tiny"], options))}.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="session")
def chip(tmp_path_factory):
    return exported(tmp_path_factory.mktemp("chip"))


def make(folder, *options, chip=None, memory="sram"):
    """Run ``make`` in a copy of the example; returns its status and all that it says."""
    shutil.copytree(ROOT / "examples" / "cocotb", folder, ignore=shutil.ignore_patterns("build"))
    if chip is not None:
        shutil.copytree(chip, folder / "build" / f"tiny-{memory}")
    path = [sysconfig.get_path("scripts"), os.environ["PATH"]]
    environment = {**os.environ, "PATH": os.pathsep.join(path)}
    environment.pop("MAKEFLAGS", None)
    result = subprocess.run(["make", f"MEMORY={memory}", *options], cwd=folder, env=environment,
                            text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            timeout=LIMIT)
    return result.returncode, result.stdout


def check(status, output, *, tests=4, trains=True):
    assert status == 0, output[-4000:]
    if trains:
        equal, words = re.findall(r"RTL = reference, (\d+) of (\d+) words", output)[-1]
        assert equal == words and int(words) > 100
    assert "FAIL=0" in output and f"PASS={tests}" in output


@pytest.mark.slow
@pytest.mark.parametrize("standard", ["2005", "2012"])
def test_icarus(standard, chip, tmp_path):
    require("icarus")
    check(*make(tmp_path / "example", f"STANDARD={standard}", chip=chip))


def test_verilator(chip, tmp_path):
    require("verilator")
    status, output = make(tmp_path / "example", "SIM=verilator", chip=chip)
    check(status, output)
    assert "%Warning" not in output


@pytest.mark.slow
def test_external_memory(tmp_path):
    require("icarus")
    (tmp_path / "chip").mkdir()
    check(*make(tmp_path / "example", "TESTS=test_registers", memory="axi",
                chip=exported(tmp_path / "chip", external=True)), tests=3, trains=False)


@pytest.mark.slow
@pytest.mark.parametrize("memory", ["sram", "axi"])
def test_the_makefile_writes_the_verilog(memory, tmp_path):
    require("icarus")
    check(*make(tmp_path / "example", "TESTS=test_registers", memory=memory), tests=3,
          trains=False)


def test_the_python_runner(chip, tmp_path, monkeypatch):
    """The example with it, and what it says of a test that fails."""
    require("icarus")
    monkeypatch.chdir(tmp_path)
    example = shutil.copytree(ROOT / "examples" / "cocotb", tmp_path / "example",
                              ignore=shutil.ignore_patterns("build"))
    shutil.copytree(chip, example / "build" / "tiny-sram")
    result = subprocess.run(
        [sys.executable, "-m", "pytest", f"{example / 'test_runner.py'}::test_registers"],
        text=True, capture_output=True)
    assert result.returncode == 0, result.stdout
    mine = tmp_path / "test_mine.py"
    mine.write_text(MINE)
    run(mine, chip, case="passes")
    with pytest.raises(SimulationError, match=r"(?s)test_mine on icarus .*assert 1 == 2"):
        run(mine, chip)
    wrapper = tmp_path / "wrapper.v"
    wrapper.write_text("module wrapper (input wire none);\n  hypercast chip ();\nendmodul\n")
    with pytest.raises(SimulationError, match=rf"{wrapper}:\d: .*error"):
        run(mine, [chip / "hypercast.v", wrapper], top="wrapper")


@pytest.mark.slow
def test_the_python_runner_trains(chip, tmp_path):
    """Karate on Verilator, by AXI4 managers whose memory is cocotbext-axi's."""
    require("icarus")
    require("verilator")
    example = shutil.copytree(ROOT / "examples" / "cocotb", tmp_path / "example",
                              ignore=shutil.ignore_patterns("build"))
    shutil.copytree(chip, example / "build" / "tiny-sram")
    (example / "build" / "tiny-axi").mkdir()
    exported(example / "build" / "tiny-axi", external=True)
    result = subprocess.run([sys.executable, "test_runner.py"], cwd=example, text=True,
                            capture_output=True)
    assert (result.returncode, result.stdout) == (0, "passed\n"), result.stderr


@pytest.mark.slow
def test_the_test_of_the_docs(chip, tmp_path, monkeypatch):
    """Karate on Verilator, in as many lines as a user writes."""
    require("verilator")
    page = (ROOT / "docs" / "drivers.md").read_text()
    [text] = re.findall(r'```python\n(""".*?)```', page, re.DOTALL)
    assert len(text.splitlines()) <= 25
    shutil.copytree(chip, tmp_path / "build" / "tiny")
    (tmp_path / "test_mine.py").write_text(text)
    result = subprocess.run([sys.executable, "-m", "pytest", "test_mine.py"], cwd=tmp_path,
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


MINE = """
import cocotb
from hypercast.cocotb import Chip

@cocotb.test()
async def passes(dut):
    chip = Chip(dut)
    await chip.reset()
    assert await chip.get("config_hash") == {hash:#x}

@cocotb.test()
async def fails(dut):
    assert 1 == 2
""".format(hash=PRESETS["tiny"].hash)


@pytest.mark.parametrize(("test", "verilog", "message"), [
    ("none.py", ".", "test file none.py is not there"),
    (__file__, ".", "is no folder that hypercast verilog wrote, for it has no manifest.json"),
    (__file__, ["a.v", "b.v"], "which module of a.v, b.v is the top is not known; give top=NAME"),
])
def test_what_the_runner_refuses(test, verilog, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        run(test, verilog)


def test_without_cocotb():
    """The module says what to install; nothing else needs it."""
    code = ("import sys; sys.modules['cocotb_tools'] = None\nimport hypercast\n"
            "assert not {'amaranth', 'cocotb'} & set(sys.modules)\nimport hypercast.cocotb")
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "which is not installed; pip install 'hypercast-gcn[cocotb]'" in result.stderr
