# SPDX-License-Identifier: BSD-2-Clause
"""The bench of exported chips without its tools: its lines, and when they are missed."""

import json

import pytest

from hypercast.benches import ip
from hypercast.benches.figure import Figure

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
    assert all(figure.passed for figure in ip._training(
        tmp_path, "top", "tiny", "axi", tmp_path)) == passed


def test_lint_by_fusesoc(monkeypatch, tmp_path):
    """The core's target runs, and with the commands that the bench brings."""
    asked = []

    def run(command, **options):
        asked.append((command[-2:], options["env"]["PATH"].split(":")[0]))
        return process(3, "")

    monkeypatch.setattr(ip.subprocess, "run", run)
    assert [value for _, value in ip._target_lint(tmp_path, "top", tmp_path / "commands")] == [3]
    [((target, core), first)] = asked
    assert (target, first) == ("lint", str(tmp_path / "commands"))
    assert core.startswith("hypercast:accelerators:top:")


@pytest.mark.parametrize("cells, expected", [
    (("LUT6", "$scopeinfo"), [0, 0, 0]),
    (("LUT6", "$mem_v2", "$add"), [0, 0, 2]),
    (None, [0, 1, 0]),
])
def test_synthesis_by_fusesoc(cells, expected, answers, tmp_path):
    """What the library's cells are made of does not count."""
    answers(process(0, ""))
    if cells is not None:
        folder = tmp_path / "build" / "core" / "synth"
        folder.mkdir(parents=True)
        (folder / "core.json").write_text(json.dumps({"modules": {
            "top": {"attributes": {}, "cells": {
                str(number): {"type": cell} for number, cell in enumerate(cells)}},
            "LUT6": {"attributes": {"blackbox": "1"}, "cells": {"a": {"type": "$lut"}}}}}))
    assert [value for _, value in ip._target_synth(tmp_path, "top", tmp_path)] == expected


@pytest.mark.parametrize("memory, expected", [
    ('(* ram_style = "ultra" *) reg [71:0] words [4095:0];', 0),
    ("reg [71:0] words [63:0];", 1),  # none asks for it
])
def test_ultra_ram(memory, expected, tmp_path):
    (tmp_path / "top.v").write_text(
        f"module top(input aclk, input [11:0] a, input [71:0] d, output reg [71:0] q);\n{memory}\n"
        "always @(posedge aclk) begin words[a] <= d; q <= words[a]; end\nendmodule\n")
    assert [value for _, value in ip._ultra_ram(tmp_path, "top")] == [expected]


def test_all_lines(monkeypatch):
    """Two presets with either memory, one that asks for UltraRAM, and the largest one's export."""
    monkeypatch.setattr(ip, "_require_tools", lambda: None)
    monkeypatch.setattr(ip, "_export", lambda preset, memory, folder: "top")
    for name in ("write_verilator_command", "write_yosys_command"):
        monkeypatch.setattr(ip, name, lambda folder: None)
    for name in ("_lint", "_icarus", "_yosys", "_ultra_ram", "_target_lint", "_target_synth"):
        monkeypatch.setattr(
            ip, name, lambda folder, top, commands=None, name=name: [(f"{name} of {top}", 0)])
    monkeypatch.setattr(ip, "_training", lambda folder, top, preset, memory, commands: [
        Figure(name=f"training {memory}", value=1)])
    monkeypatch.setattr(ip, "_largest", lambda folder: [Figure(name="largest", value=1)])
    figures = ip.run(None, lambda text: None)
    names = [figure.name for figure in figures]
    assert names.count("largest") == 1
    assert {*names} >= {
        "tiny, sram: _lint of top", "test, axi: _yosys of top", "training sram", "training axi",
        "kv260, axi: _ultra_ram of top", "vcu128: _target_lint of hypercast"}
    assert [name for name in names if "_target_synth" in name] == [
        "tiny, axi: _target_synth of top"]
    assert len(figures) == 5 * 4 + 2 + 2 + 2 and all(figure.passed for figure in figures)


def test_what_is_not_installed(monkeypatch):
    monkeypatch.setattr(ip, "missing", lambda simulator: f"no {simulator}; get it")
    monkeypatch.setattr(ip, "missing_tcl", lambda: "no tclsh; get it")
    monkeypatch.setattr(ip.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(FileNotFoundError,
                       match=r"no icarus; get it; no verilator; get it; FuseSoC.*; no tclsh"):
        ip.run(None, lambda text: None)
