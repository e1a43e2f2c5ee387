# SPDX-License-Identifier: BSD-2-Clause
"""Exported chips in the tools of their users, and the costs of an export."""

import importlib.util
import os
import re
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import TypeAlias

from hypercast.benches.figure import Figure
from hypercast.errors import NotFoundError
from hypercast.host.eda.integration.yosys_command import missing_tcl, write_yosys_command
from hypercast.host.files.reading.json_file import read_json
from hypercast.host.files.reading.regular_file import read_text
from hypercast.rtl.config import PRESETS
from hypercast.sim.simulators import missing, verilator_root
from hypercast.sim.verilator_command import write_verilator_command

__all__ = ["run"]

#: Checks an exported folder, whose top has the name; gives lines and values.
_Check: TypeAlias = Callable[[Path, str], Iterator[tuple[str, int]]]
#: Presets that are exported, with memory inside and outside, and one whose weights and operands
#: ask for UltraRAM, as an FPGA takes it.
_PRESETS, _MEMORIES = ("tiny", "test"), ("sram", "axi")
_DEEP = ("kv260", "axi")
#: The preset that FuseSoC simulates, and the part of it that FuseSoC synthesises.
_TRAINED, _SYNTHESISED = "tiny", ("tiny", "axi")
#: The largest preset, and the limits of its export: seconds, and GB of its largest process.
_LARGEST, _SECONDS, _GIGABYTES = "vcu128", 90, 2
#: Reads that are compared at least, most of them of learnt state.
_READS = 500
_STANDARDS = ("2005", "2012")
_READ = "read_verilog {top}.v; hierarchy -check -top {top}; "
_YOSYS = _READ + "proc; check -assert"
#: Cells, after memories are mapped; each memory that asks for UltraRAM has become several.
_ULTRA_RAM = _READ + (
    r"rename -hide w:*\[*; synth_xilinx -family xcup -uram -top {top} -run :map_ffram; "
    "select -assert-min 1 t:URAM288; select -assert-none a:ram_style=ultra t:$mem_v2 %i")
#: Attributes in which Yosys keeps names, and attributes of modules that a netlist only refers to.
_SCOPE, _LIBRARY = "$scopeinfo", {"blackbox", "whitebox"}


def run(data: Path | None, progress: Callable[[str], None]) -> list[Figure]:
    """The figures; ``data`` is not used.

    Raises
    ------
    NotFoundError
        If a tool is not installed; before anything runs.
    """
    _require_tools()
    figures = []
    with tempfile.TemporaryDirectory() as name:
        commands = Path(name, "commands")
        commands.mkdir()
        write_verilator_command(commands)
        write_yosys_command(commands)
        for preset, memory in (*product(_PRESETS, _MEMORIES), _DEEP):
            folder = Path(name, f"{preset}-{memory}")
            progress(f"exporting {preset} with memory {memory}")
            top = _export(preset, memory, folder)
            for what, check in _checks(preset, memory, commands):
                progress(f"{preset}, {memory}: {what}")
                figures += [Figure(name=f"{preset}, {memory}: {line}", value=value, bar=0,
                                   relation="=") for line, value in check(folder, top)]
            if preset == _TRAINED:
                progress(f"{preset}, {memory}: FuseSoC's simulation, some minutes")
                figures += _training(folder, top, preset, memory, commands)
        progress(f"exporting {_LARGEST}")
        folder = Path(name, _LARGEST)
        figures += _largest(folder)
        progress(f"{_LARGEST}: lint by FuseSoC, some minutes")
        figures += [Figure(name=f"{_LARGEST}: {line}", value=value, bar=0, relation="=")
                    for line, value in _target_lint(folder, "hypercast", commands)]
    return figures


def _checks(preset: str, memory: str, commands: Path) -> Iterator[tuple[str, _Check]]:
    """The checks of an export; every value that they give has to be 0."""
    yield "lint by Verilator", _lint
    yield "elaboration by Icarus", _icarus
    yield "elaboration by Yosys", _yosys
    yield "lint by FuseSoC", partial(_target_lint, commands=commands)
    if (preset, memory) == _SYNTHESISED:
        yield "synthesis by FuseSoC, some minutes", partial(_target_synth, commands=commands)
    if (preset, memory) == _DEEP:
        yield "memories by Yosys", _ultra_ram


def _require_tools() -> None:
    reasons = [missing(simulator) for simulator in ("icarus", "verilator")]
    if not importlib.util.find_spec("fusesoc"):
        reasons.append("FuseSoC is not installed; make setup, or pip install fusesoc")
    reasons.append(missing_tcl())
    if found := [reason for reason in reasons if reason]:
        raise NotFoundError("; ".join(found))


def _export(preset: str, memory: str, folder: Path) -> str:
    """Export a chip to a folder; returns the name of its top."""
    from hypercast.host.eda.integration.export_files import export_files
    from hypercast.rtl.export.export_options import ExportOptions

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
    yield "errors of Yosys", _errors(_YOSYS, folder, top)


def _ultra_ram(folder: Path, top: str) -> Iterator[tuple[str, int]]:
    yield "errors of Yosys that makes UltraRAM of what asks for it", \
        _errors(_ULTRA_RAM, folder, top)


def _errors(script: str, folder: Path, top: str) -> int:
    from hypercast.rtl.export.yosys import run_yosys

    try:
        run_yosys(script.format(top=top), folder)
    except RuntimeError:
        return 1
    return 0


def _target_lint(folder: Path, top: str, commands: Path) -> Iterator[tuple[str, int]]:
    yield "exit status of FuseSoC's lint", _fusesoc(folder, top, "lint", commands).returncode


def _target_synth(folder: Path, top: str, commands: Path) -> Iterator[tuple[str, int]]:
    """Exit status, and cells of the netlist that no FPGA has."""
    yield "exit status of FuseSoC's synthesis", _fusesoc(folder, top, "synth", commands).returncode
    netlists = list(folder.glob("build/*/synth/*.json"))
    yield "netlists of FuseSoC's synthesis that are missing", 1 - len(netlists)
    yield "cells of the netlist that are not the FPGA's", sum(
        cell["type"].startswith("$") and cell["type"] != _SCOPE
        for netlist in netlists for module in read_json(netlist)["modules"].values()
        if not module["attributes"].keys() & _LIBRARY for cell in module["cells"].values())


def _fusesoc(folder: Path, top: str, target: str,
             commands: Path) -> subprocess.CompletedProcess[str]:
    """Run a target of the exported core, with commands of a folder."""
    from hypercast.host.eda.integration.fusesoc_core import core_name
    from hypercast.rtl.export.export_options import ExportOptions

    return subprocess.run(
        [Path(sysconfig.get_path("scripts"), "fusesoc"), "--cores-root", ".", "run", "--target",
         target, core_name(ExportOptions(top_name=top))], cwd=folder, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "PATH": os.pathsep.join((str(commands), os.environ["PATH"]))})


def _training(folder: Path, top: str, preset: str, memory: str, commands: Path) -> list[Figure]:
    """FuseSoC's target ``sim``: reads that were compared, or 0 if something differed."""
    started = time.perf_counter()
    result = _fusesoc(folder, top, "sim", commands)
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
