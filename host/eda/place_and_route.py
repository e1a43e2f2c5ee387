# SPDX-License-Identifier: BSD-2-Clause
"""Placing and routing on an ECP5 with nextpnr: what its report says, and one block alone."""

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from hypercast.boards.serial_project import tools
from hypercast.host.eda.synthesis import WITHOUT_ULTRA_RAM
from hypercast.host.files.reading.json_file import read_json
from hypercast.rtl.config import Config
from hypercast.rtl.control.control_unit import ControlUnit
from hypercast.rtl.core import Core
from hypercast.rtl.export.rtlil import to_rtlil
from hypercast.sim.build_step import run

__all__ = ["ClockTiming", "block_clock", "core_clock", "no_progress", "reported_clock"]

#: FPGA and speed grade of the ULX3S.
_DEVICE = ("--85k", "--package", "CABGA381", "--speed", "6")
_ROUND = re.compile(r"\biter=\d+ .*\boverused=(\d+)")
#: Rounds of routing without fewer wires that several nets use than ever before.
_PATIENCE = 60


@dataclass(frozen=True, kw_only=True)
class ClockTiming:
    """How fast a clock can be, and what limits it.

    Parameters
    ----------
    asked, reached : float
        Frequency in MHz that was asked for, and that the slowest path allows.
    begin, end : str
        Nets, or cells where a net has no name, at which the slowest path begins and ends.
    cells : int
        Cells that a signal passes on it.
    wires : float
        Share of its time that is spent on wires.
    """

    asked: float
    reached: float
    begin: str
    end: str
    cells: int
    wires: float

    @property
    def met(self) -> bool:
        """Whether it is as fast as was asked."""
        return self.reached >= self.asked


def reported_clock(report: Any) -> ClockTiming:
    """The slowest of the clocks in nextpnr's report, a dictionary."""
    name, clock = min(report["fmax"].items(), key=lambda item: item[1]["achieved"])
    [steps] = [path["path"] for path in report["critical_paths"]
               if path["from"] == path["to"] == f"posedge {name}"]
    routing = [step for step in steps if step["type"] == "routing"]
    return ClockTiming(
        asked=clock["constraint"], reached=clock["achieved"],
        begin=routing[0]["net"], end=steps[-1]["to"]["cell"],
        cells=sum(step["type"] == "logic" for step in steps),
        wires=sum(step["delay"] for step in routing) / sum(step["delay"] for step in steps))


class _Enclosed(wiring.Component):
    """A component between registers: what is at its ports counts in the clock like all else."""

    def __init__(self, inner: wiring.Component) -> None:
        self._inner = inner
        super().__init__(inner.signature)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.inner = self._inner
        for path, member, value in self.signature.flatten(self):
            inner = self._inner
            for step in path:
                inner = inner[step] if isinstance(step, int) else getattr(inner, step)
            outside, inside = Value.cast(value), Value.cast(inner)
            source, target = (outside, inside) if member.flow == In else (inside, outside)
            register = Signal(len(source))
            m.d.sync += register.eq(source)
            m.d.comb += target.eq(register)
        return m


def block_clock(block: wiring.Component, *, asked: float) -> ClockTiming:
    """Clock of a block that has an ECP5-85F of speed grade 6 for itself, between registers.

    Parameters
    ----------
    block : Component
        Block.
    asked : float
        Frequency in MHz to aim for.

    Raises
    ------
    BuildError
        If a tool fails.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "block.il").write_text(
            to_rtlil(_Enclosed(block), "block"), encoding="utf-8")
        programs = tools()
        # Yosys gives a bit of an array port the name that its element has, and stops.
        run([programs["YOSYS"], "-q", "-p", r"read_rtlil block.il; rename -hide w:*\[*; "
             f"{WITHOUT_ULTRA_RAM}synth_ecp5 -nowidelut -top block; write_json block.json"],
            folder, "yosys", product="block.json")
        run([programs["NEXTPNR_ECP5"], "--quiet", "--out-of-context", *_DEVICE, "--freq",
             str(asked), "--timing-allow-fail", "--json", "block.json", "--report",
             "timing.json"], folder, "nextpnr", product="timing.json")
        return reported_clock(read_json(folder / "timing.json"))


def core_clock(config: Config, *, asked: float, external: bool = False) -> ClockTiming:
    """The slower of the clocks of a core and of the control unit, each alone, see ``block_clock``.

    Wires between cores come from registers and lead to registers, but are as long as the chip.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    asked : float
        Frequency in MHz to aim for.
    external : bool
        Whether the memory channels' memory is outside of the chip.

    Raises
    ------
    BuildError
        If a tool fails, such as for a core that is larger than the FPGA.
    """
    blocks = Core(config, external=external), ControlUnit(config)
    return min((block_clock(block, asked=asked) for block in blocks),
               key=lambda clock: clock.reached)


def no_progress(log: str) -> str:
    """Why routing is hopeless, by nextpnr's log; empty if it is not.

    The second router of nextpnr routes all nets, counts the wires that several nets use, and routes
    these nets again, until there is none. A design that fills an FPGA may never come to that end;
    with another seed, that is, another placement, it does.

    Parameters
    ----------
    log : str
        What ``nextpnr --router router2 --log`` has written so far.
    """
    overused = [int(count) for count in _ROUND.findall(log)]
    if not overused:
        return ""
    best = overused.index(min(overused))
    if len(overused) - 1 - best < _PATIENCE:
        return ""
    return (f"after {len(overused)} rounds of routing, {overused[best]} wires or more are used "
            f"twice since round {best + 1}")
