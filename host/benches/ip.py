"""Exported chips in the tools of those who take them home, and what an export takes."""

import importlib.util
import os
import re
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

from hypercast.host.benches.figure import Figure
from hypercast.host.eda.integration.yosys_command import missing_tcl, write_yosys_command
from hypercast.host.files.reading.regular_file import read_text
from hypercast.rtl.config import PRESETS
from hypercast.sim.simulators import missing, verilator_root

__all__ = ["run"]

#: Presets that are exported, with memory inside and outside.
_PRESETS, _MEMORIES = ("tiny", "test"), ("sram", "axi")
#: The preset of which FuseSoC runs all targets.
_TRAINED = "tiny"
#: The largest preset, and what its export may take: seconds, and GB of its largest process.
_LARGEST, _SECONDS, _GIGABYTES = "vcu128", 90, 2
#: Reads that are compared at least, most of them of what was learnt.
_READS = 500
_STANDARDS = ("2005", "2012")
_YOSYS = "read_verilog {top}.v; hierarchy -check -top {top}; proc; check -assert"


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; ``data`` is not used.

    Raises
    ------
    FileNotFoundError
        If a tool is not installed; before anything runs.
    """
    _require_tools()
    figures = []
    with tempfile.TemporaryDirectory() as name:
        for preset, memory in product(_PRESETS, _MEMORIES):
            folder = Path(name, f"{preset}-{memory}")
            progress(f"exporting {preset} with memory {memory}")
            top = _export(preset, memory, folder)
            for what, check in (("lint by Verilator", _lint), ("elaboration by Icarus", _icarus),
                                ("elaboration by Yosys", _yosys)):
                progress(f"{preset}, {memory}: {what}")
                figures += [Figure(name=f"{preset}, {memory}: {line}", value=value, bar=0,
                                   relation="=") for line, value in check(folder, top)]
            if preset == _TRAINED:
                progress(f"{preset}, {memory}: FuseSoC's lint and synthesis, some minutes")
                figures += _targets(folder, preset, memory)
                progress(f"{preset}, {memory}: FuseSoC's simulation, some minutes")
                figures += _training(folder, preset, memory)
        progress(f"exporting {_LARGEST}")
        figures += _largest(Path(name, _LARGEST))
    return figures


def _require_tools() -> None:
    reasons = [missing(simulator) for simulator in ("icarus", "verilator")]
    if not importlib.util.find_spec("fusesoc"):
        reasons.append("FuseSoC is not installed; make setup, or pip install fusesoc")
    reasons.append(missing_tcl())
    if found := [reason for reason in reasons if reason]:
        raise FileNotFoundError("; ".join(found))


def _export(preset: str, memory: str, folder: Path) -> str:
    """Export a chip to a folder; returns the name of its top."""
    from hypercast.host.eda.integration.export_files import export_files
    from hypercast.rtl.export.options import ExportOptions

    options = ExportOptions(external=memory == "axi", prefix="bench_")
    folder.mkdir()
    for name, text in export_files(PRESETS[preset], options).items():
        (folder / name).write_text(text, encoding="utf-8")
    return options.top


def _lint(folder: Path, top: str) -> Iterator[tuple[str, int]]:
    """Warnings: with the waivers, and without them in the module that a user's design is joined to.
    """
    root = verilator_root()
    assert root

    def warnings(*files: str) -> tuple[list[int], subprocess.CompletedProcess[str]]:
        result = subprocess.run(
            [root / "bin" / "verilator_bin", "--lint-only", "-Wall", "-Wno-fatal", "--quiet-stats",
             "--top-module", top, *files], cwd=folder, capture_output=True, text=True,
            env={**os.environ, "VERILATOR_ROOT": str(root)})
        return [int(line) for line in re.findall(
            rf"^%(?:Warning|Error)\S*: {top}\.v:(\d+)", result.stderr, re.MULTILINE)], result

    found, result = warnings(f"{top}.vlt", f"{top}.v")
    yield "warnings of Verilator -Wall, with the waivers", len(found) or result.returncode
    found, _ = warnings(f"{top}.v")
    lines = read_text(folder / f"{top}.v").splitlines()
    end = lines.index("endmodule") + 1  # the top comes first
    yield "warnings of Verilator -Wall in the top, without waivers", sum(
        line <= end for line in found)


def _icarus(folder: Path, top: str) -> Iterator[tuple[str, int]]:
    for standard in _STANDARDS:
        result = subprocess.run(
            ["iverilog", f"-g{standard}", "-t", "null", "-s", top, f"{top}.v"], cwd=folder,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        yield f"lines of Icarus -g{standard}", \
            len(result.stdout.splitlines()) or result.returncode


def _yosys(folder: Path, top: str) -> Iterator[tuple[str, int]]:
    from hypercast.rtl.export.yosys import run_yosys

    try:
        run_yosys(_YOSYS.format(top=top), folder)
        yield "errors of Yosys", 0
    except RuntimeError:
        yield "errors of Yosys", 1


def _run_target(folder: Path, target: str) -> "subprocess.CompletedProcess[str]":
    """Let FuseSoC run a target of the core in a folder, where commands may be in ``commands``."""
    from hypercast.host.eda.integration.fusesoc_core import core_name
    from hypercast.rtl.export.options import ExportOptions

    path = os.pathsep.join((str(folder.absolute() / "commands"), os.environ["PATH"]))
    return subprocess.run(
        [Path(sysconfig.get_path("scripts"), "fusesoc"), "--cores-root", ".", "run", "--target",
         target, core_name(ExportOptions(prefix="bench_"))], cwd=folder, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, env={**os.environ, "PATH": path})


def _targets(folder: Path, preset: str, memory: str) -> list[Figure]:
    """FuseSoC's targets ``lint`` and ``synth``."""
    root = verilator_root()
    assert root
    commands = folder / "commands"
    commands.mkdir()
    (commands / "verilator").symlink_to(root / "bin" / "verilator")
    write_yosys_command(commands)
    figures = []
    for target, what in (("lint", "lint"), ("synth", "synthesis")):
        started = time.perf_counter()
        status = _run_target(folder, target).returncode
        name = f"{preset}, {memory}: FuseSoC's {what}"
        figures += [
            Figure(name=f"{name}: exit status", value=status, bar=0, relation="="),
            Figure(name=f"{name}: time", value=time.perf_counter() - started, unit="s"),
        ]
    return figures


def _training(folder: Path, preset: str, memory: str) -> list[Figure]:
    """FuseSoC's target ``sim``: what was compared, or 0 if something differed."""
    started = time.perf_counter()
    result = _run_target(folder, "sim")
    found = re.search(r"PASS: (\d+) reads as expected, (\d+) cycles", result.stdout)
    reads, cycles = map(int, found.groups()) if found and not result.returncode else (0, 0)
    name = f"{preset}, {memory}: FuseSoC's simulation trains karate"
    return [
        Figure(name=f"{name}: reads, all as the reference foresees", unit="reads",
               value=reads, bar=_READS),
        Figure(name=f"{name}: cycles", value=cycles, unit="cycles"),
        Figure(name=f"{name}: time", value=time.perf_counter() - started, unit="s"),
    ]


def _largest(folder: Path) -> list[Figure]:
    """Time and memory of the largest preset's export, in a process of its own."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [Path(sysconfig.get_path("scripts"), "hypercast"), "verilog", "--preset", _LARGEST, "-o",
         folder],
        stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)  # and of the processes it waited for
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    return [
        Figure(name=f"{_LARGEST}: exit status of the export", value=process.returncode, bar=0,
               relation="="),
        Figure(name=f"{_LARGEST}: time of the export", value=seconds, unit="s", bar=_SECONDS,
               relation="<="),
        Figure(name=f"{_LARGEST}: processor time of the export",
               value=usage.ru_utime + usage.ru_stime, unit="s"),
        Figure(name=f"{_LARGEST}: memory of the export's largest process",
               value=usage.ru_maxrss * 1024 / 1e9, unit="GB", bar=_GIGABYTES, relation="<="),
    ]
