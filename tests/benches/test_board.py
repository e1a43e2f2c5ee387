# SPDX-License-Identifier: BSD-2-Clause
"""The board bench without its tools: its lines, and which of them have bars."""

from pathlib import Path

import pytest

from hypercast.benches import board, hbm_resources
from hypercast.boards import serial_project
from hypercast.host.eda.board_build import BoardReport
from hypercast.host.eda.chip_area import ChipArea
from hypercast.host.eda.families import Area
from hypercast.host.eda.place_and_route import ClockTiming


def clock(reached):
    return ClockTiming(asked=50.0, reached=reached, begin="a", end="b", cells=7, wires=0.5)


@pytest.fixture
def tools(monkeypatch):
    """Routers reach 130 MHz, all else 55; the project is two files."""
    pytest.importorskip("amaranth_boards")
    monkeypatch.setattr(serial_project, "chip_source", lambda board, config: "\n")
    monkeypatch.setattr(board, "block_clock", lambda block, asked: clock(
        130.0 if type(block).__name__ == "Router" else 55.0))
    monkeypatch.setattr(board, "largest_graph", lambda config: 64)
    monkeypatch.setattr(board, "largest_layer", lambda config, graph: graph.vertices)

    def build(folder):
        assert Path(folder, "build_hypercast.sh").exists()
        Path(folder, "hypercast.bit").write_bytes(bytes(9))
        return BoardReport(clock=clock(55.0), used={"LUT": 3}, available={"LUT": 4},
                           blocks={"hypercast_core": Area(luts=2, ram_luts=1)}, seed=2,
                           seconds=9.6, memory=1 << 30)

    monkeypatch.setattr(board, "build_bitstream", build)
    monkeypatch.setattr(board, "chip_area", lambda config, family, external, progress: ChipArea(
        cores=1, blocks={"array": Area(luts=5, ram_luts=1)}, control=Area()))
    monkeypatch.setattr(hbm_resources, "run", lambda progress: [])


def test_figures(tools):
    figures = {figure.name: figure for figure in board.run(None, progress=lambda text: None)}
    bars = {name: (figure.value, figure.bar, figure.passed)
            for name, figure in figures.items() if figure.bar is not None}
    assert bars == {
        "router, 1 plane: clock": (130.0, 120, True),
        "router, 2 planes: clock": (130.0, 120, True),
        "array, 8-bit elements: clock": (55.0, 120, False),
        "array, 16-bit elements: clock": (55.0, 120, False),
        "ulx3s: cores": (16, 16, True),
        "ulx3s: clock": (55.0, 50, True)}
    values = {name.removeprefix("ulx3s: "): figure.value for name, figure in figures.items()}
    assert values["LUT, of 4"] == 3 and values["hypercast_core"] == 3
    assert values["ulx3s, a core by itself, array: LUT"] == 6
    assert values["bitstream"] == 9 and values["time to build"] == 10
    assert values["placements tried"] == 2
    assert values["widest hidden layer for karate"] == 34
