# SPDX-License-Identifier: BSD-2-Clause
"""The solver: SAT and temporal induction, of Yosys."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from amaranth.back import rtlil
from amaranth.hdl import ClockDomain, Module, Signal, Value, ValueLike

from hypercast.errors import HypercastError
from hypercast.rtl.export.yosys import YOSYS

__all__ = ["COUNTEREXAMPLE", "Bench", "ProofFailedError", "prepare", "prove", "solve"]

#: Seconds a proof may take; several times what the longest needs.
_PATIENCE = 300
#: Longest induction tried, and cycles within which a condition is to be reached.
_INDUCTION = 20
#: Where a counterexample is written.
COUNTEREXAMPLE = "counterexample.vcd"


class ProofFailedError(HypercastError, AssertionError):
    """An assertion can fail, a condition cannot be reached, or the solver has come to no end."""


@dataclass(frozen=True)
class Bench:
    """A block and all that may happen to it.

    Parameters
    ----------
    module : Module
        Contains the block, narrows its inputs by ``Assume`` to what the contracts allow, and states
        by ``Assert`` what the block promises.
    inputs : list of ValueLike
        Free in every cycle.
    reach : list of ValueLike
        Conditions that must be possible within the cycles proved, or else 20: they show that the
        assumptions leave room for what the proof is about.
    parts : str
        RTLIL of modules that ``module`` has instances of.
    """

    module: Module
    inputs: list[ValueLike]
    reach: list[ValueLike]
    parts: str = ""


def prepare(bench: Bench, directory: Path) -> None:
    """Write what the solver reads into an empty folder."""
    m = bench.module
    m.domains.sync = sync = ClockDomain(reset_less=True)
    goals = []
    for number, condition in enumerate(bench.reach):
        goal = Signal(name=f"goal_{number}")
        m.d.comb += goal.eq(condition)
        goals.append(goal)
    directory.joinpath("top.il").write_text(
        rtlil.convert(m, ports=[sync.clk, *map(Value.cast, bench.inputs), *goals]))
    directory.joinpath("parts.il").write_text(bench.parts)


def solve(directory: Path, cycles: int | None = None) -> int | None:
    """Prove what ``prepare`` wrote, from reset.

    Parameters
    ----------
    directory : Path
        The folder.
    cycles : int or None
        How many cycles after reset the proof covers; None: all, by induction.

    Returns
    -------
    int
        Cycles that were needed: those covered, or the length of the induction.

    Raises
    ------
    ProofFailedError
        If it cannot be proved. If that is because an assertion can fail, ``COUNTEREXAMPLE`` in
        ``directory`` shows how.
    """
    bounded = f"sat -tempinduct-baseonly -maxsteps {cycles or _INDUCTION} -set-assumes"
    induction = f"sat -tempinduct -maxsteps {_INDUCTION} -set-assumes"
    goals = sorted(set(re.findall(r"\bgoal_\d+\b", directory.joinpath("top.il").read_text())))
    log = _yosys(
        directory, "read_rtlil top.il", "read_rtlil parts.il", "prep -top top", "flatten",
        "memory_map", "async2sync", "chformal -lower", "opt -full", "dffunmap",
        "select -assert-min 1 t:$assert", "select -clear",
        f"{induction if cycles is None else bounded} -prove-asserts -verify "
        f"-dump_vcd {COUNTEREXAMPLE}",
        *(f"{bounded} -prove {goal} 0 -falsify" for goal in goals))
    if cycles is not None:
        return cycles
    return max(map(int, re.findall(r"\[induction step (\d+)\]", log)))


def prove(bench: Bench, directory: Path, cycles: int | None = None) -> int | None:
    """``prepare`` and ``solve``."""
    prepare(bench, directory)
    return solve(directory, cycles)


def _yosys(directory: Path, *commands: str) -> str:
    """Run a script and return its log; an error in it, such as a proof that fails, is raised."""
    try:
        result = subprocess.run([*YOSYS, "-p", "; ".join(commands)], cwd=directory,
                                capture_output=True, text=True, timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        raise ProofFailedError(f"the solver came to no end in {_PATIENCE} seconds") from None
    if result.returncode == 0:
        return result.stdout
    if "Called with -falsify" in result.stderr:
        raise ProofFailedError("a condition that must be possible cannot be reached")
    if "Called with -verify" not in result.stderr:
        raise ProofFailedError(f"Yosys failed: {result.stderr.strip()}")
    if "model found for base case: FAIL" in result.stdout:
        raise ProofFailedError(f"an assertion can fail: {directory / COUNTEREXAMPLE}")
    raise ProofFailedError(f"no induction of up to {_INDUCTION} cycles closes")
