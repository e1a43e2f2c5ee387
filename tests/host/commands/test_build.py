# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast build``: files, what it says, and how the tools are called."""

import dataclasses
import json
import os

import pytest
from click.testing import CliRunner

from hypercast.boards import hbm_project, serial_project
from hypercast.boards.serial_board import SERIAL_BOARDS
from hypercast.host.cli import main
from hypercast.host.eda import board_build
from hypercast.host.eda.board_build import BoardReport
from hypercast.host.eda.place_and_route import ClockTiming
from hypercast.host.eda.synthesis import Area
from hypercast.host.eda.target import Target
from hypercast.rtl.config import PRESETS
from hypercast.rtl.export import chip_conversion

DESCRIPTIONS = ["hypercast.h", "hypercast.svd", "manifest.json"]
FILES = sorted(["build.tcl", "flash.tcl", "floorplan.xdc", "hypercast.v", "ip.tcl", "pins.xdc",
                *DESCRIPTIONS])


@pytest.fixture
def build(monkeypatch, tmp_path):
    """Runs the command in an empty folder, without the time that Verilog and estimates take."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Target, "shares", lambda self, config: {})
    monkeypatch.setattr(hbm_project, "board_verilog",
                        lambda board, config, debug, bulk: board.part + " bulk" * bulk)
    monkeypatch.setattr(chip_conversion, "to_verilog",
                        lambda config, options: f"external {options.external}, "
                                                f"debug {options.debug}")
    return lambda *arguments: CliRunner().invoke(main, ["build", *arguments])


def vivado(folder, monkeypatch, status):
    """Puts a stand-in for Vivado on the PATH, which notes its arguments."""
    script = folder / "bin" / "vivado"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\necho "$@" > called\nexit {status}\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")


def test_a_project_and_how_to_build_it(build, tmp_path):
    result = build("--board", "vcu128")
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in (tmp_path / "build/vcu128").iterdir()) == FILES
    assert (tmp_path / "build/vcu128/hypercast.v").read_text() == "xcvu37p-fsvh2892-2L-e"
    assert result.output.endswith("to build AMD VCU128, where Vivado is: cd build/vcu128 && vivado "
                                  "-mode batch -source build.tcl\n")


def test_a_project_for_a_board_with_a_processor(build, tmp_path):
    result = build("--board", "kv260", "-o", "p")
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in (tmp_path / "p").iterdir()) == sorted([
        "build.tcl", "hypercast.bif", "hypercast.v", "reserved-memory.dtsi", "system.tcl",
        *DESCRIPTIONS])
    assert (tmp_path / "p/hypercast.v").read_text() == "external True, debug False"
    described = json.loads((tmp_path / "p/manifest.json").read_text())
    assert described["board"] == "kv260" and len(described["external_memory"]["managers"]) == 4
    assert "EXTERNAL_MEMORY 1u" in " ".join((tmp_path / "p/hypercast.h").read_text().split())


@pytest.mark.parametrize("board", ["u280", "kv260"])
def test_a_logic_analyser(board, build, tmp_path):
    assert build("--board", board, "-o", "p", "--debug").exit_code == 0
    assert (tmp_path / "p/debug.tcl").exists()
    assert "debug.tcl" in (tmp_path / "p/build.tcl").read_text()
    assert board != "kv260" or (tmp_path / "p/hypercast.v").read_text().endswith("debug True")
    refused = build("--board", board, "-o", "p")
    assert refused.exit_code == 2 and "debug true, not debug false" in refused.output


def test_a_bulk_port(build, tmp_path):
    assert build("--board", "u280", "-o", "p", "--bulk").exit_code == 0
    assert (tmp_path / "p/hypercast.v").read_text().endswith(" bulk")
    assert "AXI_Memory_Mapped" in (tmp_path / "p/ip.tcl").read_text()
    refused = build("--board", "u280", "-o", "p")
    assert refused.exit_code == 2 and "bulk true, not bulk false" in refused.output
    assert build("--board", "u280", "-o", "q").exit_code == 0
    assert "AXI_Memory_Mapped" not in (tmp_path / "q/ip.tcl").read_text()


@pytest.mark.parametrize("board", ["ulx3s", "kv260"])
def test_no_bulk_port_where_there_is_no_dma(board, build, tmp_path):
    result = build("--board", board, "--bulk")
    assert result.exit_code == 2 and "whose link to the host has no DMA" in result.output
    assert not list(tmp_path.iterdir())


def test_no_logic_analyser_without_vivado(build, tmp_path):
    result = build("--board", "ulx3s", "--debug")
    assert result.exit_code == 2 and "--vcd" in result.output
    assert not list(tmp_path.iterdir())


def test_json(build, tmp_path):
    record = json.loads(build("--board", "u50", "-o", "p", "--json").output)
    assert record["part"] == "xcu50-fsvh2104-2-e" and not record["built"]
    assert sorted(record["files"]) == [f"p/{name}" for name in FILES]


def test_vivado_runs_only_when_asked(build, tmp_path, monkeypatch):
    vivado(tmp_path, monkeypatch, 0)
    build("--board", "u280", "-o", "p")
    assert not (tmp_path / "p/called").exists()
    result = build("--board", "u280", "-o", "p", "--run")
    assert (tmp_path / "p/called").read_text() == "-mode batch -source build.tcl\n"
    assert result.output.endswith("built p/hypercast.bit\n")


def test_vivado_fails(build, tmp_path, monkeypatch):
    vivado(tmp_path, monkeypatch, 3)
    result = build("--board", "u280", "-o", "p", "--run")
    assert result.exit_code == 1 and "Vivado failed; see p/vivado.log" in result.output


def test_no_vivado(build, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    result = build("--board", "u280", "--run")
    assert result.exit_code == 1 and "there is no vivado on the PATH; source" in result.output


@pytest.mark.parametrize(("arguments", "status", "message"), [
    (("--board", "u55"), 2, "'u280', 'u50', 'ulx3s', 'vcu128'"),
    ((), 2, "Missing option '--board'"),
])
def test_errors(build, arguments, status, message):
    result = build(*arguments)
    assert result.exit_code == status and message in result.output


def test_a_configuration_that_does_not_fit(tmp_path):
    result = CliRunner().invoke(main, ["build", "--board", "u50", "-o", str(tmp_path / "p"),
                                       "-P", "lanes=8"])
    assert result.exit_code == 2 and "needs word_width 256, not 128" in result.output
    assert not (tmp_path / "p").exists()


REPORT = BoardReport(
    clock=ClockTiming(asked=50.0, reached=61.25, begin="here", end="there", cells=9, wires=0.6),
    used={"LUT": 40, "DSP": 3}, available={"LUT": 80, "DSP": 4},
    blocks={"hypercast_core": Area(luts=20, ram_luts=6, flip_flops=7, dsps=1, block_rams=2)},
    seed=1, seconds=100.4, memory=3 << 29)


@pytest.fixture
def synthesis(monkeypatch):
    """Instead of Verilog a word, instead of a bitstream the given report."""
    def choose(report):
        monkeypatch.setattr(board_build, "build_bitstream", lambda folder: report)
    pytest.importorskip("amaranth_boards")
    monkeypatch.setattr(serial_project, "chip_source",
                        lambda board, config: f"{config.dimensions}\n")
    return choose


def test_a_bitstream_and_its_report(build, synthesis, tmp_path):
    synthesis(REPORT)
    result = build("--board", "ulx3s", "-P", "dimensions=0")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "build/ulx3s/chip.il").read_text() == "0\n"
    assert result.output.endswith("""\
clock: 50 MHz asked, 61.2 MHz reached
slowest path: here to there, 9 cells, 60% of its time on wires
LUT: 40 of 80, 50%
DSP: 3 of 4, 75%
  hypercast_core: 26 LUT, 7 flip-flops, 1 DSP, 2 block RAM
built build/ulx3s/hypercast.bit in 100 s, with up to 1.5 GiB of memory
""")
    record = json.loads((tmp_path / "build/ulx3s/report.json").read_text())
    assert record["clock"]["reached"] == 61.25
    assert record == json.loads(
        build("--board", "ulx3s", "-P", "dimensions=0", "--json").output)["report"]


def test_a_clock_that_is_not_met(build, synthesis, tmp_path):
    synthesis(dataclasses.replace(REPORT, clock=dataclasses.replace(REPORT.clock, reached=49.9)))
    result = build("--board", "ulx3s")
    assert result.exit_code == 1
    assert "the clock is not met: 50 MHz asked, 49.9 MHz reached" in result.output


@pytest.mark.parametrize(("board", "option", "tools"), [("ulx3s", ["--no-run"], "Trellis"),
                                                        ("arty-a7", [], "Vivado"),
                                                        ("de10-nano", [], "Quartus"),
                                                        ("tang-mega", [], "Gowin")])
def test_a_project_only(build, synthesis, tmp_path, board, option, tools):
    synthesis(None)
    result = build("--board", board, *option)
    assert result.exit_code == 0, result.output
    assert result.output.endswith(f"where {tools} is: cd build/{board} && sh build_hypercast.sh\n")
    assert not (tmp_path / f"build/{board}/report.json").exists()
    assert (tmp_path / f"build/{board}/build_hypercast.sh").exists()
    folder = tmp_path / "build" / board
    config = PRESETS[SERIAL_BOARDS[board].preset]
    assert f"{config.hash:#010x}u" in (folder / "hypercast.h").read_text()
    assert "<name>HYPERCAST</name>" in (folder / "hypercast.svd").read_text()
    described = json.loads((folder / "manifest.json").read_text())
    assert described["board"] == board and described["configuration"] == config.to_dict()


@pytest.mark.parametrize(("arguments", "message"), [
    (("ulx3s", "--preset", "cora"), "the LFE5U-85F of the Radiona ULX3S, ECP5-85F: block RAM (18 "
                                    "Kibit): at least 17,641 needed, 208 there; more than one "
                                    "thing is too large; take the preset that is the board's own"),
    (("arty-a7", "--preset", "demo"), "135 there; -P channel_words="),
    (("kv260", "-P", "channel_words=8388608"), "512 MiB, but the AMD Kria KV260 leaves 256 MiB to "
                                               "them; choose channel_words of at most 4194304"),
    (("u50", "-P", "weight_rows=65536", "-P", "aggregation_rows=16384"), "all 640 UltraRAM in use"),
])
def test_what_does_not_fit_is_refused_before_anything_is_written(build, tmp_path, arguments,
                                                                 message):
    result = build("--board", *arguments)
    assert result.exit_code == 2, result.output
    assert message in result.output and result.output.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
