# SPDX-License-Identifier: BSD-2-Clause
"""Builds Verilog with Icarus or Verilator, once per text, and runs cocotb tests on it.

Set the environment variable ``WAVES=1`` to keep waveforms beside the log.
"""

import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from cocotb_tools.check_results import get_results
from cocotb_tools.config import libs_dir
from cocotb_tools.runner import get_runner

from hypercast.errors import HypercastError
from hypercast.sim.simulators import missing
from hypercast.sim.verilator_build import compile_verilog

__all__ = ["FOLDER", "SimulationError", "build", "run"]

#: Where compiled designs and the logs of failed tests are kept, below the current folder.
FOLDER = Path("build/cocotb")


class SimulationError(HypercastError, RuntimeError):
    """A build or a cocotb test failed; the message holds the end of the log and where it is."""


def _waves() -> bool:
    return os.environ.get("WAVES", "") not in ("", "0")


def _version(simulator: str) -> str:
    """Text that changes with the simulator's version."""
    if simulator == "verilator":
        return importlib.metadata.version("verilator")
    return subprocess.run(["iverilog", "-V"], capture_output=True, text=True,
                          check=True).stdout.splitlines()[0]


def _libraries() -> str:
    """``LD_LIBRARY_PATH`` with cocotb's libraries."""
    return os.pathsep.join(filter(None, (str(libs_dir), os.environ.get("LD_LIBRARY_PATH"))))


def _key(simulator: str, verilog: str, top: str, block: str | None) -> str:
    parts = [simulator, _version(simulator), importlib.metadata.version("cocotb"), top, block,
             _waves(), verilog]
    return f"{top}-{simulator}-{hashlib.sha256(repr(parts).encode()).hexdigest()[:12]}"


def _failure(what: str, log: Path) -> SimulationError:
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    tail = "\n".join(lines[-40:])
    return SimulationError(f"{what} (log: {log}):\n{tail}")


def build(simulator: str, verilog: str, *, top: str, block: str | None = None) -> Path:
    """The folder in which ``simulator`` has compiled ``verilog``, compiling it if need be.

    Folders are named by a digest of text, tools and settings.

    Parameters
    ----------
    simulator : str
        ``"icarus"`` or ``"verilator"``.
    verilog : str
        The design's text.
    top : str
        Name of its top module.
    block : str or None
        Name of a module that Verilator compiles once instead of once per instance. No port of it
        may have its name.

    Raises
    ------
    SimulationError
        If the simulator is not installed, or refuses the design.
    """
    if reason := missing(simulator):
        raise SimulationError(reason)
    target = FOLDER.resolve() / _key(simulator, verilog, top, block)
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=target.parent))
    source, log = work / f"{top}.v", work / "build.log"
    source.write_text(verilog)
    try:
        if simulator == "verilator":
            compile_verilog(source, top=top, block=block, folder=work, log=log, waves=_waves())
        else:
            get_runner(simulator).build(
                sources=[source], hdl_toplevel=top, build_dir=work, timescale=("1ns", "1ps"),
                waves=_waves(), log_file=log)
    except (RuntimeError, SystemExit) as error:
        raise _failure(f"{simulator} could not build {top}", log) from error
    try:
        work.rename(target)  # atomic: a build interrupted half-way is never used
    except OSError:
        shutil.rmtree(work)  # another process built the same design first
    return target


def run(simulator: str, verilog: str, *, top: str, module: str, block: str | None = None,
        test: str | None = None, seed: int = 1,
        environment: Mapping[str, str] | None = None) -> None:
    """Run the cocotb tests of a Python module on a design.

    Parameters
    ----------
    simulator, verilog, top, block
        As for ``build``.
    module : str
        Importable name of the module that holds the tests.
    test : str or None
        Name of the one test to run, with all its parameters; without it, all tests.
    seed : int
        Seed of Python's ``random`` in the tests.
    environment : dict or None
        Environment variables for the tests.

    Raises
    ------
    SimulationError
        If the design cannot be built, no test ran, or one failed.
    """
    built = build(simulator, verilog, top=top, block=block)
    runs = built / "runs"
    runs.mkdir(exist_ok=True)
    where = Path(tempfile.mkdtemp(prefix=f"{module.rpartition('.')[2]}-", dir=runs))
    log = where / "simulation.log"
    what = f"cocotb tests of {module} on {simulator} (seed {seed})"
    try:
        results = get_runner(simulator).test(
            test_module=module, hdl_toplevel=top, hdl_toplevel_lang="verilog",
            test_filter=rf"\.{test}(/.*)?$" if test else None, seed=seed, build_dir=built,
            test_dir=where, results_xml=str(where / "results.xml"),
            extra_env={"LD_LIBRARY_PATH": _libraries(), **(environment or {})},
            waves=_waves(), log_file=log,
            plusargs=[f"+dumpfile_path={where / 'dump.fst'}"] if _waves() else [])
        count, failed = get_results(results)
    except (RuntimeError, SystemExit) as error:
        raise _failure(f"{what} failed", log) from error
    if failed or not count:
        raise _failure(f"{what}: {failed} of {count} failed", log)
    if not _waves():
        shutil.rmtree(where)
