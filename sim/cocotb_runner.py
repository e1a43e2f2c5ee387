"""Builds Verilog with Icarus or Verilator, once per text, and runs cocotb tests on it.

Set the environment variable ``WAVES=1`` to keep waveforms beside the log.
"""

import contextlib
import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

from hypercast.sim.simulators import missing, verilator_environment

__all__ = ["SimulationError", "build", "run"]

_TIMESCALE = ("1ns", "1ps")
_KEEP_GOING = ["-Wno-fatal"]  # Verilator warns of widths and names in what Amaranth writes


class SimulationError(RuntimeError):
    """A build or a cocotb test failed; the message holds the end of the log and where it is."""


def _waves():
    return os.environ.get("WAVES", "") not in ("", "0")


def _version(simulator):
    """Text that changes with the simulator's version."""
    if simulator == "verilator":
        return importlib.metadata.version("verilator")
    return subprocess.run(["iverilog", "-V"], capture_output=True, text=True,
                          check=True).stdout.splitlines()[0]


def _key(simulator, verilog, top):
    parts = [simulator, _version(simulator), importlib.metadata.version("cocotb"), top, _waves(),
             verilog]
    return f"{top}-{simulator}-{hashlib.sha256(repr(parts).encode()).hexdigest()[:12]}"


@contextlib.contextmanager
def _environment(variables):
    """Give the process another environment; cocotb's runner takes no other for a build."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _failure(what, log):
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    tail = "\n".join(lines[-40:])
    return SimulationError(f"{what} (log: {log}):\n{tail}")


def build(simulator, verilog, *, top, folder=Path("build/cocotb")):
    """The folder in which ``simulator`` has compiled ``verilog``, compiling it if need be.

    Parameters
    ----------
    simulator : str
        ``"icarus"`` or ``"verilator"``.
    verilog : str
        The design's text.
    top : str
        Name of its top module.
    folder : Path
        Where compiled designs are kept, by a digest of text, tools and settings.

    Raises
    ------
    SimulationError
        If the simulator is not installed, or refuses the design.
    """
    if reason := missing(simulator):
        raise SimulationError(reason)
    target = folder.resolve() / _key(simulator, verilog, top)
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=target.parent))
    source = work / f"{top}.v"
    source.write_text(verilog)
    environment = dict(os.environ)
    arguments = []
    if simulator == "verilator":
        environment = verilator_environment(work, environment)
        arguments = _KEEP_GOING
    log = work / "build.log"
    try:
        with _environment(environment):
            get_runner(simulator).build(
                sources=[source], hdl_toplevel=top, build_dir=work, build_args=arguments,
                timescale=_TIMESCALE, waves=_waves(), log_file=log)
    except (RuntimeError, SystemExit) as error:
        raise _failure(f"{simulator} could not build {top}", log) from error
    try:
        work.rename(target)  # atomic: a build interrupted half-way is never used
    except OSError:
        shutil.rmtree(work)  # another process built the same design first
    return target


def run(simulator, verilog, *, top, module, test=None, seed=1, environment=None,
        folder=Path("build/cocotb")):
    """Run the cocotb tests of a Python module on a design.

    Parameters
    ----------
    simulator, verilog, top, folder
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
    built = build(simulator, verilog, top=top, folder=folder)
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
            extra_env=environment or {}, waves=_waves(), log_file=log,
            plusargs=[f"+dumpfile_path={where / 'dump.fst'}"] if _waves() else [])
        count, failed = get_results(results)
    except (RuntimeError, SystemExit) as error:
        raise _failure(f"{what} failed", log) from error
    if failed or not count:
        raise _failure(f"{what}: {failed} of {count} failed", log)
    if not _waves():
        shutil.rmtree(where)
