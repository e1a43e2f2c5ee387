# SPDX-License-Identifier: BSD-2-Clause
"""Examines a machine for what Hypercast needs."""

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import hypercast
from hypercast.cache import cache_folder, distrust
from hypercast.host.files.reading.regular_file import read_text
from hypercast.sim.compilers import NoCompilerError, find_compiler
from hypercast.sim.simulators import missing, verilator_root

__all__ = ["Check", "examine"]

#: What pip calls this package; hypercast on PyPI is another project's.
_DISTRIBUTION = "hypercast-gcn"
#: Bytes that should be free in the cache folder; a compiled chip takes a few tens of megabytes.
_ROOM = 1 << 30
_PROJECT = Path(__file__).parents[2] / "pyproject.toml"
#: What extras are for; packages of others are not looked for.
_PURPOSES = {"": "everything", "boards": "bitstreams", "cluster": "several boards",
             "cocotb": "tests with cocotb", "dev": "tests", "fst": "compressed waveforms"}


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
    """All checks, required ones first."""
    checks = [_python(), _name(), *_packages(), _compiler(), _cache(), _verilator(), _icarus(),
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
    needed = tomllib.loads(read_text(_PROJECT))["project"]["requires-python"] \
        if _PROJECT.exists() else importlib.metadata.metadata(_DISTRIBUTION)["Requires-Python"]
    good = SpecifierSet(needed).contains(platform.python_version(), prereleases=True)
    return Check("Python", "everything", True, "ok" if good else "wrong",
                 platform.python_version(), "" if good else f"install Python {needed}")


def _name() -> Check:
    """That what is imported as ``hypercast`` is ours alone."""
    name, purpose, place = "package hypercast", "everything", hypercast.__file__ or ""
    others = [f"{one.name} {one.version}"
              for one in importlib.metadata.distributions(name="hypercast")
              if any(file.parts[0] == "hypercast" for file in one.files or ())]
    if others or "Trainer" not in getattr(hypercast, "__all__", ()):
        found = f"{others[0] if others else place} is another project's, of the same folder"
        again = "pip install -c constraints.txt -e ." if _PROJECT.exists() else \
            f"pip install --force-reinstall --no-deps with the wheel of {_DISTRIBUTION}"
        return Check(name, purpose, True, "wrong", found,
                     f"pip uninstall -y hypercast, then {again}")
    return Check(name, purpose, True, "ok", f"{_DISTRIBUTION} {hypercast.__version__}", "")


def _requirements() -> Iterator[tuple[str, Requirement]]:
    """Requirements and their extras, of the checkout, should it be one, else of the package.

    What an editable install recorded is out of date when pyproject.toml has changed since.
    """
    if _PROJECT.exists():
        project = tomllib.loads(read_text(_PROJECT))["project"]
        for extra, texts in {"": project["dependencies"],
                             **project["optional-dependencies"]}.items():
            if extra in _PURPOSES:
                found = ((extra, Requirement(text)) for text in texts)
                yield from ((extra, one) for extra, one in found
                            if one.marker is None or one.marker.evaluate())
        return
    for text in importlib.metadata.requires(_DISTRIBUTION) or []:
        one = Requirement(text)
        extra = next((extra for extra in _PURPOSES
                      if one.marker is None or one.marker.evaluate({"extra": extra})), None)
        if extra is not None:
            yield extra, one


def _command(extra: str) -> str:
    """The command that installs an extra: in a checkout, with the tested versions.

    Of a package that is installed, pip takes the extras from there, so that none has to be
    published.
    """
    if _PROJECT.exists():
        return f"pip install -c constraints.txt -e '.[{extra}]'" if extra else \
            "pip install -c constraints.txt -e ."
    return f"pip install '{_DISTRIBUTION}[{extra}]'" if extra else f"pip install {_DISTRIBUTION}"


def _packages() -> Iterator[Check]:
    for extra, one in _requirements():
        command, purpose = _command(extra), _PURPOSES[extra]
        try:
            found = importlib.metadata.version(one.name)
        except importlib.metadata.PackageNotFoundError:
            yield Check(one.name, purpose, not extra, "missing", "", command)
            continue
        good = one.specifier.contains(found, prereleases=True)
        yield Check(one.name, purpose, not extra, "ok" if good else "wrong", found,
                    "" if good else f"{command} (for {one.name}{one.specifier})")


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
    for kind in ("cxxrtl", "kernels"):
        if reason := distrust(Path(os.path.realpath(folder), kind)):
            return Check(name, purpose, True, "wrong", str(folder),
                         f"{reason}; set HYPERCAST_CACHE to a folder of your own")
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
        return Check("Verilator", purpose, False, "ok",
                     f"{importlib.metadata.version('verilator')}, {program.parent}", "")
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
        return Check(name, purpose, False, "missing", "", _command("cocotb"))
    from find_libpython import find_libpython  # comes with cocotb, not with the chip

    if path := find_libpython():
        return Check(name, purpose, False, "ok", path, "")
    return Check(name, purpose, False, "missing", "", "Debian: apt-get install libpython3-dev")
