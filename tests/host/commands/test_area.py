# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast area``: its table, its JSON, its drawing, and what it refuses."""

import json

import pytest
from click.testing import CliRunner

from hypercast.host.cli import main
from hypercast.host.eda import area_model, chip_area, place_and_route
from hypercast.host.eda.chip_area import ChipArea
from hypercast.host.eda.families import Area
from hypercast.host.eda.place_and_route import ClockTiming

AREA = ChipArea(cores=4, blocks={"array.feed": Area(luts=1_000, ram_luts=5, flip_flops=7),
                                 "weights": Area(luts=50, block_rams=1.5)},
                control=Area(luts=200, dsps=1))


@pytest.fixture
def asked(monkeypatch):
    """Whether memory was to be outside, of every chip that was synthesised."""
    found = []

    def synthesised(config, family, *, external, progress):
        progress("working")
        found.append(external)
        return AREA

    monkeypatch.setattr(chip_area, "chip_area", synthesised)
    return found


def _run(*arguments, status=0):
    result = CliRunner().invoke(main, ["area", *arguments])
    assert result.exit_code == status, result.output
    return result


def test_table(asked):
    text = _run("--family", "7series", "--preset", "test").stdout
    assert "7 series, memory inside" in text
    rows = [line.replace("│", " ").split() for line in text.splitlines()]
    assert ["array.feed", "1,005", "5", "7", "0", "0"] in rows
    assert ["a", "core", "1,055", "5", "7", "0", "1.5"] in rows
    assert next(row for row in rows if "chip:" in row)[-5:] == ["4,420", "20", "28", "1", "6"]
    assert "UltraRAM" not in text


def test_json_and_treemap(asked, tmp_path):
    document = json.loads(_run("--family", "ecp5", "--json", "--treemap",
                               str(tmp_path / "map.png")).stdout)
    assert document["chip"] == {"LUT": 4_420, "LUT as RAM": 20, "flip-flop": 28, "DSP": 1,
                                "block RAM": 6, "UltraRAM": 0}
    assert document["blocks"].keys() == AREA.blocks.keys()
    assert (document["family"], document["cores"], document["clock"]) == ("ecp5", 4, None)
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("arguments", "outside"), [
    ((), False), (("--preset", "vcu128"), True), (("--memory", "axi"), True),
    (("--preset", "vcu128", "--memory", "sram"), False)])
def test_where_memory_is(asked, arguments, outside):
    _run("--family", "ultrascale+", *arguments)
    assert asked == [outside]


def test_estimate(asked, monkeypatch):
    monkeypatch.setattr(area_model, "estimated_area", lambda config, family, external: AREA)
    assert "ECP5, memory inside, estimated" in _run("--family", "ecp5", "--estimate").stdout
    assert json.loads(_run("--family", "ecp5", "--estimate", "--json").stdout)["estimated"]
    assert asked == []


def test_estimates_that_there_are_none_of(asked):
    text = _run("--family", "7series", "--estimate", status=2).stderr
    assert "no estimate for 7series, only for ecp5, ultrascale+; leave out --estimate" in text
    assert asked == []


def test_clock(asked, monkeypatch):
    monkeypatch.setattr(place_and_route, "core_clock", lambda config, asked, external: ClockTiming(
        asked=asked, reached=71.5, begin="a", end="b", cells=3, wires=0.5))
    assert "60 MHz asked, 71.5 MHz reached; slowest path: a to b, 3 cells" in _run(
        "--family", "ecp5", "--clock", "60").stdout
    assert "needs --family ecp5, not 7series" in _run(
        "--family", "7series", "--clock", "60", status=2).stderr


def test_refusals(asked, tmp_path):
    assert "'ice40' is not one of" in _run("--family", "ice40", status=2).stderr
    assert "there is no folder" in _run(
        "--family", "ecp5", "--treemap", str(tmp_path / "no/map.png"), status=2).stderr
    assert asked == []
