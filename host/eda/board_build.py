"""Builds the bitstream of a board with a serial port, and measures what that takes."""

import resource
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hypercast.boards.serial_project import AREA_FILE, PROJECT, TIMING_FILE, tools
from hypercast.host.eda.place_and_route import Clock, reported_clock
from hypercast.host.eda.synthesis import FAMILIES, Area, hierarchical_areas
from hypercast.host.files.reading.json_file import read_json
from hypercast.sim.build_step import run

__all__ = ["BoardReport", "build_bitstream"]

#: What is counted of an FPGA, and nextpnr's name of it on an ECP5.
_CELLS = {"LUT": "TRELLIS_COMB", "flip-flop": "TRELLIS_FF", "DSP": "MULT18X18D",
          "block RAM": "DP16KD"}
_SCRIPT = f"build_{PROJECT}.sh"


@dataclass(frozen=True, kw_only=True)
class BoardReport:
    """What a board's bitstream is and took.

    Parameters
    ----------
    clock : Clock
        The chip's clock.
    used, available : dict
        Cells of the FPGA, by kind.
    blocks : dict
        ``Area`` of each block with all it contains, by module name; that of one core.
    seconds : float
        From the start of synthesis to the bitstream.
    memory : int
        Bytes that the largest of the tools held at once.
    """

    clock: Clock
    used: dict[str, int]
    available: dict[str, int]
    blocks: dict[str, Area]
    seconds: float
    memory: int

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def build_bitstream(folder: Path) -> BoardReport:
    """Run the script of a project made by ``serial_project.project`` for Project Trellis.

    Parameters
    ----------
    folder : pathlib.Path
        Where the project was extracted; ``hypercast.bit`` is made there.

    Raises
    ------
    BuildError
        If a tool fails; names its log.
    """
    begin = time.monotonic()
    run(["env", *(f"{name}={tool}" for name, tool in tools().items()), "sh", _SCRIPT], folder,
        PROJECT)
    seconds = time.monotonic() - begin
    timing = read_json(folder / TIMING_FILE)
    return BoardReport(
        clock=reported_clock(timing),
        used={kind: timing["utilization"][name]["used"] for kind, name in _CELLS.items()},
        available={kind: timing["utilization"][name]["available"]
                   for kind, name in _CELLS.items()},
        blocks=hierarchical_areas(folder / AREA_FILE, FAMILIES["ECP5"]), seconds=seconds,
        memory=resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
