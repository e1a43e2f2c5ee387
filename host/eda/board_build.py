# SPDX-License-Identifier: BSD-2-Clause
"""Builds the bitstream of a board with a serial port, and measures what that takes."""

import resource
import shlex
import shutil
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hypercast.boards.serial_project import AREA_FILE, PROJECT, TIMING_FILE, tools
from hypercast.host.eda.families import FAMILIES, Area
from hypercast.host.eda.place_and_route import ClockTiming, no_progress, reported_clock
from hypercast.host.eda.synthesis import hierarchical_areas
from hypercast.host.files.reading.json_file import read_json
from hypercast.host.files.reading.regular_file import read_text
from hypercast.sim.build_step import BuildError, StoppedError, run

__all__ = ["BoardReport", "build_bitstream"]

#: What is counted of an FPGA, and nextpnr's name of it on an ECP5.
_CELLS = {"LUT": "TRELLIS_COMB", "flip-flop": "TRELLIS_FF", "DSP": "MULT18X18D",
          "block RAM": "DP16KD"}
_SCRIPT = f"build_{PROJECT}.sh"
_ROUTER = "NEXTPNR_ECP5"
#: Placements that are tried, each with a seed of its own.
_ATTEMPTS = 4
#: Share of the clock that a placement reaches at least if another one may well reach all of it.
_NEAR = 0.9
#: What a placement leaves.
_PRODUCTS = (*(f"{PROJECT}.{end}" for end in ("bit", "config", "svf", "tim")), TIMING_FILE)


@dataclass(frozen=True, kw_only=True)
class BoardReport:
    """A board's bitstream, and the resources and time that it took.

    Parameters
    ----------
    clock : ClockTiming
        The chip's clock.
    used, available : dict
        Cells of the FPGA, by kind.
    blocks : dict
        ``Area`` of each block with all it contains, by module name; for a core, of one of them.
    seed : int
        Seed of the placement: the first one that meets the clock, or else the fastest one; the
        first one tried is 1.
    seconds : float
        From the start of synthesis to the bitstream, all placements included.
    memory : int
        Bytes that the largest of the tools held at once.
    """

    clock: ClockTiming
    used: dict[str, int]
    available: dict[str, int]
    blocks: dict[str, Area]
    seed: int
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
        If a tool fails, or no placement can be routed; names its log.
    """
    begin = time.monotonic()
    seed = _run_script(folder)
    seconds = time.monotonic() - begin
    timing = read_json(folder / TIMING_FILE)
    return BoardReport(
        clock=reported_clock(timing),
        used={kind: timing["utilization"][name]["used"] for kind, name in _CELLS.items()},
        available={kind: timing["utilization"][name]["available"]
                   for kind, name in _CELLS.items()},
        blocks=hierarchical_areas(folder / AREA_FILE, FAMILIES["ecp5"]), seed=seed, seconds=seconds,
        memory=resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)


def _run_script(folder: Path) -> int:
    """Run the script with one seed after the other until the clock is met; returns the seed.

    If it never is, what the fastest placement left is what stays.
    """
    best, seed_of_best, reason = 0.0, 0, ""
    with tempfile.TemporaryDirectory() as kept:
        for seed in range(1, _ATTEMPTS + 1):
            if stopped := _place(folder, seed):
                reason = stopped
                continue
            clock = reported_clock(read_json(folder / TIMING_FILE))
            if clock.met:
                return seed
            if clock.reached > best:
                best, seed_of_best = clock.reached, seed
                _copy_products(folder, Path(kept))
            if clock.reached < _NEAR * clock.asked:
                break
        if not seed_of_best:
            raise BuildError(f"no placement of {_ATTEMPTS} could be routed: {reason}; choose a "
                             f"smaller configuration")
        _copy_products(Path(kept), folder)
        return seed_of_best


def _place(folder: Path, seed: int) -> str:
    """Run the script with a seed; returns why its placement cannot be routed, if it cannot."""
    log = folder / f"{PROJECT}.tim"
    log.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as place:
        programs = tools()
        if _ROUTER in programs:
            programs[_ROUTER] = _with_seed(programs[_ROUTER], seed, Path(place))
        try:
            run(["env", *(f"{name}={tool}" for name, tool in programs.items()), "sh", _SCRIPT],
                folder, PROJECT, lambda: no_progress(read_text(log)) if log.exists() else "")
        except StoppedError as error:
            return str(error)
    return ""


def _copy_products(source: Path, target: Path) -> None:
    for name in _PRODUCTS:
        if (source / name).exists():
            shutil.copyfile(source / name, target / name)


def _with_seed(tool: str, seed: int, place: Path) -> str:
    """A program that is a tool with a seed, which the project's script knows nothing of.

    It does not fail where the clock is not met, as it does for who runs the script: the report says
    so, and what is slow.
    """
    program = place / "nextpnr"
    program.write_text(f"#!/bin/sh\nexec {shlex.quote(tool)} --seed {seed} --timing-allow-fail "
                       '"$@"\n')
    program.chmod(0o755)
    return str(program)
