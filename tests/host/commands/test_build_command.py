"""``hypercast build``: files, what it says, and how Vivado is called."""

import json
import os

import pytest
from click.testing import CliRunner

from hypercast.boards import hbm_project
from hypercast.host.cli import main

FILES = ["build.tcl", "floorplan.xdc", "hypercast.v", "ip.tcl", "pins.xdc"]


@pytest.fixture
def build(monkeypatch, tmp_path):
    """Runs the command in an empty folder, without the time that Verilog takes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(hbm_project, "board_verilog", lambda board, config: board.part)
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
    (("--board", "u55"), 2, "'u280', 'u50', 'vcu128'"),
    ((), 2, "Missing option '--board'"),
])
def test_errors(build, arguments, status, message):
    result = build(*arguments)
    assert result.exit_code == status and message in result.output


def test_a_configuration_that_does_not_fit(tmp_path):
    result = CliRunner().invoke(main, ["build", "--board", "u50", "-o", str(tmp_path / "p"),
                                       "-P", "lanes=8"])
    assert result.exit_code == 1 and "needs word_width 256, not 128" in result.output
    assert not (tmp_path / "p").exists()
