# SPDX-License-Identifier: BSD-2-Clause
"""The netlist: parts with registers at every output, the same text on every run."""

import functools
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest

from hypercast.rtl.chip import CONTROL_MODULE, CORE_MODULE, wires
from hypercast.rtl.config import PRESETS
from hypercast.rtl.export.chip_conversion import parts_to_rtlil, to_verilog
from hypercast.rtl.export.export_options import TOP_MODULE, ExportOptions
from hypercast.rtl.export.yosys import YOSYS
from hypercast.sim.simulators import missing
from tests.packaging.source_tree import ROOT

#: What Yosys calls registers: flip-flops, and memory read ports with a clock.
_REGISTERS = ("$dff", "$dffe", "$sdff", "$sdffe", "$sdffce", "$memrd_v2", "$mem_v2")
_PREPARE = ("read_rtlil part.il; hierarchy -check -top {top}; proc; flatten; memory_collect; "
            "opt_expr; opt_clean -purge; check -assert; ")
#: Fails if anything but registers drives an output.
_REGISTERED = ("select -assert-any o:*; select -assert-none o:* %ci1 t:* %i "
               f"{' '.join(f't:{name} %d' for name in _REGISTERS)}; ")
#: Fails if from an input an output can be reached without crossing a register.
_SEPARATED = ("select -assert-none i:* i:clk i:rst %u %d "
              f"%co*:{','.join(f'-{name}' for name in _REGISTERS)} o:* %i")


verilog = functools.cache(to_verilog)


def yosys(folder, script):
    return subprocess.run([*YOSYS, "-q", "-p", script], cwd=folder, capture_output=True,
                          text=True)


@pytest.fixture(scope="module", params=[
    "tiny", pytest.param("test", marks=pytest.mark.slow)])
def parts(request):
    """A configuration, and the parts' RTLIL by name."""
    config = PRESETS[request.param]
    return config, parts_to_rtlil(config)


@pytest.mark.parametrize("top", [CORE_MODULE, CONTROL_MODULE])
def test_only_registers_between_parts(parts, top, tmp_path):
    (tmp_path / "part.il").write_text(parts[1][top])
    result = yosys(tmp_path, _PREPARE.format(top=top) + _REGISTERED + _SEPARATED)
    assert not result.returncode, result.stderr


@pytest.mark.parametrize("output, registered, separated", [
    ("register", True, True),
    ("~register", False, True),
    ("entry & ~register", False, False),
    ("entry", True, False),  # nothing drives it
])
def test_the_checks_notice(output, registered, separated, tmp_path):
    source = (f"module dut(input clk, input entry, output leave); reg register; "
              f"always @(posedge clk) register <= entry; assign leave = {output}; endmodule")
    (tmp_path / "dut.v").write_text(source)
    assert not yosys(tmp_path, "read_verilog dut.v; write_rtlil part.il").returncode
    for check, holds in ((_REGISTERED, registered), (_SEPARATED, separated)):
        result = yosys(tmp_path, _PREPARE.format(top="dut") + check)
        assert (result.returncode == 0) == holds, result.stderr


@pytest.mark.parametrize("dimensions", [0, 1])
def test_the_top_fits_the_parts(dimensions, tmp_path):
    text = verilog(PRESETS["tiny"].replace(dimensions=dimensions))
    assert "[-1:0]" not in text  # two bits in Verilog, where none are meant
    (tmp_path / "chip.v").write_text(text)
    names = re.findall(r"^module (\S+?) ?\(", text, re.MULTILINE)
    assert len(set(names)) == len(names)
    result = yosys(tmp_path, f"read_verilog chip.v; hierarchy -check -top {TOP_MODULE}")
    assert not result.returncode, result.stderr
    # A memory of one row becomes a register; nothing else is worth a warning.
    warnings = [line for line in result.stderr.splitlines() if "Warning" in line]
    assert all("Replacing memory" in line for line in warnings), warnings


@pytest.mark.slow
def test_two_chips_in_one_design(tmp_path):
    """With prefixes of their own they share no module; either tool takes both."""
    config = PRESETS["tiny"].replace(dimensions=0)
    texts = [to_verilog(one, ExportOptions(prefix=prefix)) for prefix, one in (
        ("left_", config), ("right_", config.replace(element_width=8)))]
    names = [set(re.findall(r"^module (\S+?) ?\(", text, re.MULTILINE)) for text in texts]
    assert not names[0] & names[1]
    assert all(name.lstrip("\\").startswith(("left_", "right_")) for name in set.union(*names))
    (tmp_path / "both.v").write_text("".join((
        *texts, "module both(input clock); left_hypercast a(.aclk(clock)); ",
        "right_hypercast b(.aclk(clock)); endmodule")))
    result = yosys(tmp_path, "read_verilog both.v; hierarchy -check -top both")
    assert not result.returncode, result.stderr
    if not missing("icarus"):
        subprocess.run(["iverilog", "-g2005", "-t", "null", "-s", "both", "both.v"], cwd=tmp_path,
                       check=True)


def test_wires_name_ports_of_the_parts(parts):
    config, parts = parts
    ports = {name: set(re.findall(
        r"^  wire width \d+ (input|output) \d+ +\\(\S+)$",
        text.partition(f"\nmodule \\{name}\n")[2].partition("\nend\n")[0], re.MULTILINE))
        for name, text in parts.items()}

    def module(part):
        return CONTROL_MODULE if part == "control" else CORE_MODULE

    driven = [destination for _, destination in wires(config)]
    assert len(set(driven)) == len(driven)
    for (source, output), (destination, port) in wires(config):
        assert ("output", output) in ports[module(source)], output
        assert ("input", port) in ports[module(destination)], port


@pytest.mark.parametrize("module, text", [
    ("hypercast.rtl.export.chip_conversion", "to_verilog(tiny)"),
    pytest.param(
        "hypercast.rtl.folding.folded_parts",
        "''.join(folded_parts_to_rtlil(tiny.replace(dimensions=3)).values())",
        marks=pytest.mark.slow),
])
def test_text_does_not_depend_on_the_hash_seed(module, text):
    code = (f"import sys; from hypercast.rtl.config import PRESETS; from {module} import *; "
            f"tiny = PRESETS['tiny'].replace(dimensions=0); sys.stdout.write({text})")
    processes = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE,
                                  env={**os.environ, "PYTHONHASHSEED": seed})
                 for seed in ("1", "2")]
    digests = {hashlib.sha256(process.communicate()[0]).hexdigest() for process in processes}
    assert len(digests) == 1 and not any(process.returncode for process in processes)


def test_text_begins_with_licence_and_configuration():
    config = PRESETS["tiny"].replace(dimensions=0)
    header, _, body = verilog(config).partition("\n\n")
    assert body.startswith("module hypercast (\n")
    assert all(line.startswith("//") for line in header.splitlines())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"SPDX-License-Identifier: {project['license']}\n" in header
    copyright_line = (ROOT / "LICENSE").read_text().splitlines()[2]
    assert f"// {copyright_line}\n" in header
    assert f"configuration hash {config.hash:#010x}:" in header
    for name, value in config.to_dict().items():
        assert f"//   {name} = {value}" in header.splitlines()


def test_text_names_no_place_of_this_machine():
    text = verilog(PRESETS["tiny"])
    for place in (ROOT, Path(sys.prefix), Path.home(), tempfile.gettempdir()):
        assert str(place) not in text
    assert ".py" not in text
