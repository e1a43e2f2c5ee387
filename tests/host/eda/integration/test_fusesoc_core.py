# SPDX-License-Identifier: BSD-2-Clause
"""The core for FuseSoC: what it lists, and what FuseSoC makes of it."""

import os
import subprocess
import sysconfig
from pathlib import Path

import pytest
import yaml

from hypercast.host.eda.integration.fusesoc_core import (
    core_name,
    fusesoc_core,
    names_file,
    yosys_names,
)
from hypercast.host.eda.integration.training_bench import training_bench
from hypercast.host.eda.integration.yosys_command import missing_tcl, write_yosys_command
from hypercast.rtl.config import INTERFACE_VERSION, PRESETS
from hypercast.rtl.export.chip_conversion import lint_waivers, to_verilog
from hypercast.rtl.export.export_options import ExportOptions
from hypercast.sim.verilator_command import write_verilator_command
from tests.cocotb.benches import require

CONFIG = PRESETS["tiny"]
OPTIONS = ExportOptions(prefix="small_", top_name="mine")
FUSESOC = Path(sysconfig.get_path("scripts"), "fusesoc")
#: A chip that FuseSoC's tools are done with at once; a register is called as a bit of another one.
STUB = ("module mine(input aclk, input [3:0] a, output [3:0] b);\n"
        "  reg [3:0] word;\n  reg \\word[0] ;\n  assign b = word ^ {4{\\word[0] }};\n"
        "  always @(posedge aclk) begin\n    word <= word + a;\n"
        "    \\word[0] <= a[3] ^ a[2] ^ word[1];\n  end\nendmodule\n")
STUB_BENCH = ('module mine_bench;\n  reg [47:0] accesses [0:0];\n  initial begin\n'
              '    $readmemh("mine_training.hex", accesses);\n'
              '    if (accesses[0] !== 48\'h1) $fatal(1, "FAIL");\n    $finish;\n  end\n'
              'endmodule\n')


def fusesoc(folder, target, commands=""):
    """Run a target of the core in a folder."""
    path = os.pathsep.join((str(commands), os.environ["PATH"])) if commands else os.environ["PATH"]
    return subprocess.run(
        [FUSESOC, "--cores-root", ".", "run", "--target", target, core_name(OPTIONS)], cwd=folder,
        env={**os.environ, "PATH": path}, text=True, capture_output=True)


@pytest.fixture
def folder(tmp_path):
    """A folder with the core, of a chip that does next to nothing."""
    (tmp_path / "mine.core").write_text(fusesoc_core(CONFIG, OPTIONS))
    (tmp_path / "mine.v").write_text(STUB)
    (tmp_path / "mine.vlt").write_text(lint_waivers(OPTIONS))
    (tmp_path / names_file(OPTIONS)).write_text(yosys_names(CONFIG, OPTIONS))
    (tmp_path / "mine_bench.sv").write_text(STUB_BENCH)
    (tmp_path / "mine_training.hex").write_text("000000000001\n")
    return tmp_path


def test_files_and_targets():
    head, _, text = fusesoc_core(CONFIG, OPTIONS).partition("\n")
    assert head == "CAPI=2:" and f"configuration hash {CONFIG.hash:#010x}" in text
    core = yaml.safe_load(text)
    assert core["name"] == f"hypercast:accelerators:mine:{INTERFACE_VERSION}"
    assert set(core["targets"]) == {"default", "lint", "synth", "sim"}
    assert core["targets"]["synth"]["toplevel"] == "mine"
    assert core["targets"]["sim"]["toplevel"] == "mine_bench"
    listed = {name for fileset in core["filesets"].values() for file in fileset["files"]
              for name in ([file] if isinstance(file, str) else file)}
    assert listed == {"mine.v", "mine.vlt", "mine_yosys.tcl", *training_bench(CONFIG, OPTIONS)}


def test_no_test_bench():
    core = yaml.safe_load(fusesoc_core(CONFIG, OPTIONS, bench=False).partition("\n")[2])
    assert "sim" not in core["targets"] and "bench" not in core["filesets"]
    assert training_bench(CONFIG.replace(channel_words=64), OPTIONS) == {}


def test_simulation_target(folder):
    """It finds the accesses, and an error in the bench is one of FuseSoC."""
    require("icarus")
    result = fusesoc(folder, "sim")
    assert not result.returncode, result.stderr
    (folder / "mine_training.hex").write_text("000000000002\n")
    assert fusesoc(folder, "sim").returncode


def test_lint_target(folder, tmp_path_factory):
    """A warning is an error."""
    require("verilator")
    commands = tmp_path_factory.mktemp("commands")
    write_verilator_command(commands)
    result = fusesoc(folder, "lint", commands)
    assert not result.returncode, result.stderr
    (folder / "mine.v").write_text(STUB.replace("reg [3:0] word;", "reg [8:0] word;"))
    assert fusesoc(folder, "lint", commands).returncode


def test_synthesis_target(folder, tmp_path_factory):
    if missing_tcl():
        pytest.skip(missing_tcl())
    commands = tmp_path_factory.mktemp("commands")
    write_yosys_command(commands)
    result = fusesoc(folder, "synth", commands)
    assert not result.returncode, result.stderr
    [netlist] = folder.rglob("*.json")
    assert "FDRE" in netlist.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("external", [False, True], ids=["sram", "axi"])
def test_training(external, tmp_path):
    """The real chip trains, and every word is the reference's."""
    require("icarus")
    options = ExportOptions(external=external, prefix="small_", top_name="mine")
    (tmp_path / "mine.core").write_text(fusesoc_core(CONFIG, options))
    (tmp_path / "mine.v").write_text(to_verilog(CONFIG, options))
    (tmp_path / "mine.vlt").write_text(lint_waivers(options))
    (tmp_path / names_file(options)).write_text(yosys_names(CONFIG, options))
    for name, text in training_bench(CONFIG, options).items():
        (tmp_path / name).write_text(text)
    result = fusesoc(tmp_path, "sim")
    assert not result.returncode and "PASS:" in result.stdout, result.stdout[-2000:]
