# SPDX-License-Identifier: BSD-2-Clause
"""A small board: its bitstream by open tools, chips that fit, and the clocks of its blocks alone.

And the boards with HBM: the resources of their FPGA that the chip takes.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

from hypercast.benches import hbm_resources
from hypercast.benches.figure import Figure
from hypercast.host.eda.board_build import build_bitstream
from hypercast.host.eda.capacity import largest_graph, largest_layer
from hypercast.host.eda.chip_area import chip_area
from hypercast.host.eda.place_and_route import ClockTiming, block_clock
from hypercast.host.graphs.graph import Graph
from hypercast.rtl.config import PRESETS, Config

__all__ = ["run"]

#: The board and its configuration.
_BOARD = "ulx3s"
_CONFIG = PRESETS[_BOARD]
#: MHz demanded of the chip, and of router and array alone.
_CHIP_BAR, _BLOCK_BAR = 50, 120
#: Routers of the 4-D hypercube, and arrays.
_ROUTERS = {f"router, {planes} plane{'s' * (planes > 1)}": Config(
    planes=planes, lanes=2, element_width=8) for planes in (1, 2)}
_ARRAYS = {f"array, {width}-bit elements": Config(lanes=4, element_width=width)
           for width in (8, 16)}


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; ``data`` is not used."""
    from hypercast.rtl.array.systolic_array import SystolicArray
    from hypercast.rtl.network.router import Router

    blocks = {**{name: Router(config) for name, config in _ROUTERS.items()},
              **{name: SystolicArray(config) for name, config in _ARRAYS.items()}}
    figures = []
    for name, block in blocks.items():
        progress(f"placing and routing the {name}")
        figures += _clock(name, block_clock(block, asked=_BLOCK_BAR), _BLOCK_BAR)
    return [*figures, *_bitstream(progress), *_blocks(progress), *_capacity(),
            *hbm_resources.run(progress)]


def _clock(name: str, clock: ClockTiming, bar: float | None) -> list[Figure]:
    return [
        Figure(name=f"{name}: clock", value=round(clock.reached, 1), unit="MHz", bar=bar),
        Figure(name=f"{name}: slowest path, {clock.begin} to {clock.end}", value=clock.cells,
               unit="cells"),
    ]


def _bitstream(progress: Callable[[str], None]) -> list[Figure]:
    from hypercast.boards.serial_board import SERIAL_BOARDS
    from hypercast.boards.serial_project import PROJECT, chip_source, project

    progress(f"building the bitstream of {_BOARD}")
    with tempfile.TemporaryDirectory() as name:
        board = SERIAL_BOARDS[_BOARD]
        plan = project(board, _CONFIG, chip_source(board, _CONFIG))
        plan.extract(name)
        report = build_bitstream(Path(name))
        size = Path(name, f"{PROJECT}.bit").stat().st_size
    cells = [Figure(name=f"{_BOARD}: {kind}, of {report.available[kind]}", value=used)
             for kind, used in report.used.items()]
    blocks = [Figure(name=f"{_BOARD}: {block}", value=area.luts + area.ram_luts, unit="LUT")
              for block, area in sorted(report.blocks.items())]
    return [
        Figure(name=f"{_BOARD}: cores", value=_CONFIG.cores, bar=16),
        *_clock(_BOARD, report.clock, _CHIP_BAR), *cells, *blocks,
        Figure(name=f"{_BOARD}: bitstream", value=size, unit="bytes"),
        Figure(name=f"{_BOARD}: placements tried", value=report.seed),
        Figure(name=f"{_BOARD}: time to build", value=round(report.seconds), unit="s"),
        Figure(name=f"{_BOARD}: memory to build", value=round(report.memory / 2**30, 2),
               unit="GiB"),
    ]


def _blocks(progress: Callable[[str], None]) -> list[Figure]:
    """Area of each block of a core, not folded."""
    blocks = chip_area(_CONFIG, "ecp5", external=False, progress=progress).blocks
    return [Figure(name=f"{_BOARD}, a core by itself, {name}: {kind}", value=block.tally[kind])
            for name, block in blocks.items()
            for kind in ("LUT", "flip-flop", "DSP", "block RAM")]


def _capacity() -> list[Figure]:
    return [
        Figure(name=f"{_BOARD}: largest graph of degree 4, layers 16-16-4",
               value=largest_graph(_CONFIG), unit="vertices"),
        Figure(name=f"{_BOARD}: widest hidden layer for karate",
               value=largest_layer(_CONFIG, Graph.load("karate")), unit="features"),
    ]
