# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast explore``: table, JSON, the file for train, and what it refuses."""

import json
import re
from dataclasses import replace

import pytest
from click.testing import CliRunner

from hypercast.host.cli import main
from hypercast.host.compiler.memory_map import CapacityError
from hypercast.host.description.description import load_description
from hypercast.host.eda import exploration
from hypercast.host.eda.exploration import Candidate, Exploration, Refusal
from hypercast.rtl.config import PRESETS

FAST = PRESETS["vcu128"].replace(edge_buffer=16, memory_stalls=False)
STATISTICS = ("--vertices", "102483,9000,1024", "--edges", "146420,9529", "--features", "602",
              "--classes", "41")


def _candidate(config, cycles, share):
    return Candidate(config=config, cycles=cycles, seconds=cycles / 250e6,
                     shares={"LUT": share, "flip-flop": 0.1, "DSP": 0.2, "block RAM": 0.3,
                             "UltraRAM": 0.4}, energy={"products": 1e-3}, orders=())


@pytest.fixture
def asked(monkeypatch):
    """Board, workload and fixed fields of every search."""
    found = []

    def explore(target, workload, fixed, progress):
        found.append((target, workload, fixed))
        return Exploration(
            candidates=[_candidate(PRESETS["vcu128"], 900, 0.5), _candidate(FAST, 500, 0.7),
                        _candidate(FAST.replace(planes=1, eject=1), 950, 0.9)],
            refusals=[Refusal(config=FAST.replace(lanes=lanes), reason=f"{name} is 1, but {lanes} "
                              f"are needed; raise {name}")
                      for name, lanes in (("program_rows", 2), ("tensors", 4), ("tensors", 8))])

    monkeypatch.setattr(exploration, "explore", explore)
    return found


def _run(*arguments, status=0):
    result = CliRunner().invoke(main, ["explore", *arguments])
    assert result.exit_code == status, result.output
    return result


def test_table_and_files(asked, tmp_path):
    result = _run("--board", "vcu128", *STATISTICS, "--hidden", "128", "-P", "planes=4",
                  "-o", str(tmp_path / "best.toml"), "--plot", str(tmp_path / "plot.svg"))
    assert "3 configurations fit" in result.stdout
    assert "hypercast build --board vcu128 --preset vcu128 -P edge_buffer=16 -P " \
           "memory_stalls=false" in result.stdout
    rows = [line for line in result.stdout.splitlines() if "70%" in line or "50%" in line]
    assert len(rows) == 2 and "90%" not in result.stdout
    assert load_description(tmp_path / "best.toml").device.config == FAST
    assert (tmp_path / "plot.svg").read_text().count("16 lanes") == 1
    [(target, steps, fixed)] = asked
    assert (target.name, target.clock, fixed) == ("vcu128", 250e6, {"planes": 4})
    workload = steps(PRESETS["vcu128"])
    assert workload.sampled and workload.network.features == 602


def test_json(asked):
    document = json.loads(_run("--board", "vcu128", *STATISTICS, "--json").stdout)
    assert [one["cycles"] for one in document["candidates"]] == [500, 900]
    assert document["candidates"][0]["configuration"] == FAST.to_dict()
    assert document["candidates"][0]["estimated_joules"] == 1e-3
    assert [(one["configuration"]["lanes"], one["reason"]) for one in document["refused"]] == [
        (2, "program_rows is 1, but 2 are needed; raise program_rows"),
        *((lanes, f"tensors is 1, but {lanes} are needed; raise tensors") for lanes in (4, 8))]


def test_slowdowns_are_said(asked, monkeypatch):
    slowdown = CapacityError("row_counts is 16, but 50 are needed: so", field="row_counts",
                             needed=50)
    slow = replace(_candidate(FAST, 400, 0.8), slowdowns=(slowdown,))
    plain = exploration.explore
    monkeypatch.setattr(exploration, "explore", lambda *arguments: replace(
        plain(*arguments), candidates=[slow, *plain(*arguments).candidates]))
    assert "the first is slower than it could be: row_counts is 16, but 50 are needed: so\n" in \
        _run("--board", "vcu128", *STATISTICS).stdout
    document = json.loads(_run("--board", "vcu128", *STATISTICS, "--json").stdout)
    assert [one["slowdowns"] for one in document["candidates"]] == [[str(slowdown)], [], []]


def test_what_cannot_be_loaded_is_marked(asked):
    lines = _run("--board", "vcu128", *STATISTICS).stdout.splitlines()
    assert [line for line in lines if line.startswith("cannot be loaded")] == [
        "cannot be loaded: 16 cores, 2 lanes, 2 planes, 2 ports: program_rows is 1, but 2 are "
        "needed; raise program_rows",
        "cannot be loaded: 16 cores, 4 lanes, 2 planes, 2 ports, and 1 more: tensors is 1, but 4 "
        "are needed; raise tensors"]


def test_adam_needs_its_unit(asked):
    command = ("karate", "--board", "ulx3s", "--optimiser", "adam")
    _run(*command)
    assert [fixed for *_, fixed in asked] == [{"adam": True}]
    assert "no unit for it" in _run(*command, "-P", "adam=false", status=2).stderr


def test_a_data_set(asked, tmp_path):
    path = tmp_path / "best.toml"
    _run("karate", "--board", "ulx3s", "--hidden", "8", "-o", str(path))
    [(target, _, _)] = asked
    assert (target.folds, target.external, target.family) == (True, False, "ecp5")
    description = load_description(path)
    assert description.graph and description.graph.source == "karate"
    assert description.model.hidden == (8,)


@pytest.mark.parametrize(("arguments", "message"), [
    (("karate", *STATISTICS), "give a DATASET, or --vertices"),
    ((), "give a DATASET, or --vertices"),
    (("--vertices", "5"), "--vertices needs --edges, --features and --classes"),
    ((*STATISTICS[:3], "9", *STATISTICS[4:]), "3 numbers of --vertices"),
    ((*STATISTICS, "-P", "planes=x"), "planes must be a whole number"),
    (("karate", "--sampler", "nodes"), "leave --sampler out"),
])
def test_refusals(asked, arguments, message):
    arguments = [one if one != "9" else "1,2,3" for one in arguments]
    assert message in " ".join(_run("--board", "vcu128", *arguments, status=2).stderr.split())
    assert not asked


@pytest.mark.parametrize(("board", "message"), [
    ("de10-nano", "Cyclone V, the FPGA of de10-nano, .*maker's tools .*hypercast build"),
    ("arty-a7", r"7 series, the FPGA of arty-a7, .*hypercast area --family 7series -P"),
    ("tang-mega", "of tang-mega, .*maker's tools"),
])
def test_boards_without_estimates(board, message):
    text = " ".join(_run("karate", "--board", board, status=2).stderr.split())
    assert re.search(f"no estimate of area for .*{message}", text)
    assert "(ecp5-evn, kv260, u280, u50, ulx3s, vcu128)" in text and "hypercast model" in text
