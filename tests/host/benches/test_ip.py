"""The bench of exported chips without its tools: its lines, and when they are missed."""

import os
from pathlib import Path

import pytest

from hypercast.host.benches import ip
from hypercast.host.benches.figure import Figure

TOP = 'module top (\n);\nendmodule\nmodule inner (\n);\nendmodule\n'


def process(code, output):
    """What ``subprocess.run`` gives."""
    return type("Result", (), {"returncode": code, "stdout": output, "stderr": output})


@pytest.fixture
def answers(monkeypatch):
    """Sets what the next commands say."""
    def set_answers(*results):
        queue = list(results)
        monkeypatch.setattr(ip.subprocess, "run", lambda *args, **kwargs: queue.pop(0))
    return set_answers


@pytest.mark.parametrize("with_waivers, without, expected", [
    ("", "", [0, 0]),
    ("", "%Warning-WIDTH: top.v:5:1: x\n", [0, 0]),
    ("%Warning-WIDTH: top.v:5:1: x\n", "%Warning-WIDTH: top.v:2:1: x\n", [1, 1]),
])
def test_lint(with_waivers, without, expected, answers, tmp_path):
    """Without waivers, what is inside of the chip does not count."""
    (tmp_path / "top.v").write_text(TOP)
    answers(process(0, with_waivers), process(0, without))
    assert [value for _, value in ip._lint(tmp_path, "top")] == expected


def test_icarus(answers, tmp_path):
    answers(process(0, ""), process(0, "a\nb\n"))
    assert [value for _, value in ip._icarus(tmp_path, "top")] == [0, 2]
    answers(process(3, ""), process(0, ""))
    assert [value for _, value in ip._icarus(tmp_path, "top")] == [3, 0]


@pytest.mark.parametrize("code, output, passed", [
    (0, "PASS: 600 reads as expected, 70000 cycles", True),
    (0, "nothing", False),
    (1, "PASS: 600 reads as expected, 70000 cycles", False),
    (0, "PASS: 6 reads as expected, 70000 cycles", False),
])
def test_training(code, output, passed, answers, tmp_path):
    answers(process(code, output))
    assert all(figure.passed for figure in ip._training(tmp_path, "tiny", "axi")) == passed


@pytest.mark.parametrize("lint, synthesis", [(0, 0), (1, 0), (0, 2)])
def test_targets(lint, synthesis, monkeypatch, tmp_path):
    """They find commands of the wheels that the bench has put beside the chip."""
    def answer(command, *, cwd, env, **options):
        target = command[command.index("--target") + 1]
        folder = Path(env["PATH"].split(os.pathsep)[0])
        assert (folder / {"lint": "verilator", "synth": "yosys"}[target]).exists()
        return process({"lint": lint, "synth": synthesis}[target], "")

    monkeypatch.setattr(ip.subprocess, "run", answer)
    monkeypatch.setattr(ip, "verilator_root", lambda: tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "verilator").touch()
    figures = ip._targets(tmp_path, "tiny", "axi")
    assert [figure.value for figure in figures if figure.bar == 0] == [lint, synthesis]


def test_all_lines(monkeypatch):
    """Two presets with either memory, and the largest preset's export."""
    monkeypatch.setattr(ip, "_require_tools", lambda: None)
    monkeypatch.setattr(ip, "_export", lambda preset, memory, folder: "top")
    for name in ("_lint", "_icarus", "_yosys"):
        monkeypatch.setattr(ip, name, lambda folder, top, name=name: [(name, 0)])
    for name in ("_targets", "_training"):
        monkeypatch.setattr(ip, name, lambda folder, preset, memory, name=name: [
            Figure(name=f"{name} {memory}", value=1)])
    monkeypatch.setattr(ip, "_largest", lambda folder: [Figure(name="largest", value=1)])
    figures = ip.run(None, lambda text: None)
    assert [figure.name for figure in figures].count("largest") == 1
    assert {figure.name for figure in figures} >= {
        "tiny, sram: _lint", "test, axi: _yosys", "_targets sram",
        "_training sram", "_training axi"}
    assert len(figures) == 4 * 3 + 2 * 2 + 1 and all(figure.passed for figure in figures)


def test_what_is_not_installed(monkeypatch):
    monkeypatch.setattr(ip, "missing", lambda simulator: f"no {simulator}; get it")
    monkeypatch.setattr(ip.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(ip, "missing_tcl", lambda: "no tclsh; get it")
    with pytest.raises(FileNotFoundError,
                       match=r"no icarus; get it; no verilator; get it; FuseSoC.*; no tclsh; get"):
        ip.run(None, lambda text: None)
