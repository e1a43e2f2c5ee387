# SPDX-License-Identifier: BSD-2-Clause
"""Synthesis with Yosys: what a design takes of an FPGA family."""

import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hypercast.errors import ToolError
from hypercast.host.eda.families import Area, Family
from hypercast.host.eda.module_texts import STUB
from hypercast.host.files.reading.json_file import read_json
from hypercast.host.files.reading.regular_file import read_text
from hypercast.rtl.export.yosys import YOSYS

__all__ = ["SCRIPT", "WITHOUT_ULTRA_RAM", "area_of", "count_cells", "hierarchical_areas"]

#: Cells in which Yosys keeps names; they are no hardware.
_NO_CELLS = {"$scopeinfo"}
#: A memory that no kind of RAM fits, just before Yosys makes flip-flops of it.
_SCATTERED = "$mem_v2"
# ABC, linked into this Yosys, closes its standard output and error: whatever is printed after the
# first mapping to LUTs is lost, error messages too. Only what goes to files is complete.
# An element of an array port has a name, such as word[0], that Yosys itself then gives to a bit of
# the port, and stops; so names inside the design are made private first.
#: What Yosys does, but for a family's command.
SCRIPT = ("read_rtlil design.il; hierarchy -top top; rename -hide w:*; "
          "{styles}{command} -run :map_ffram; tee -q -o memories.json stat -json; "
          "{command} -run map_ffram:; tee -q -o cells.json stat -json")
#: What hides from Yosys, where a family has no UltraRAM, that a memory should become it.
WITHOUT_ULTRA_RAM = "setattr -unset ram_style a:ram_style=ultra; "
#: A module that does nothing but to contain others, which stay apart.
_TOP = "module \\top\n{instances}end\n"
_INSTANCE = "  attribute \\keep 1\n  cell \\{module} \\part_{number}\n  end\n"
_MODULE = re.compile(r"^((?:attribute [^\n]*\n)*)module \\(\S+)\n.*?^end\n",
                     re.MULTILINE | re.DOTALL)


def area_of(cells: Mapping[str, int], family: Family) -> Area:
    """Area of a design of a number of cells by type.

    Two LUTs with at most 3 inputs share a place of AMD's FPGAs, as Yosys' estimate of logic cells
    has it; but every bit of the design's carry chains has a place for itself.

    Raises
    ------
    ToolError
        If the area of one is not known.
    """
    counted = {cell: number for cell, number in cells.items()
               if cell not in _NO_CELLS and not cell.startswith(STUB)}
    scattered = counted.pop(_SCATTERED, 0)
    unknown = counted.keys() - family.cells.keys()
    if unknown:
        raise ToolError(f"Yosys used cells whose area is not known: "
                        f"{', '.join(sorted(unknown))}; add them to hypercast.host.eda.families")
    area = sum((family.cells[cell] * number for cell, number in counted.items()),
               start=Area(scattered_memories=scattered))
    small = sum(counted.get(cell, 0) for cell in family.small)
    return replace(area, shared_luts=max(0, small - area.carry_bits) // 2)


def hierarchical_areas(path: Path, family: Family) -> dict[str, Area]:
    """Area of each module of a synthesised design, with all it contains, by name.

    Parameters
    ----------
    path : pathlib.Path
        What Yosys' ``stat -json`` wrote.
    family : Family
        FPGA family.

    Raises
    ------
    ToolError
        If a cell's area is not known.
    """
    modules = _cells(path)

    def contained(name: str) -> Counter[str]:
        """Number of cells by type, of this module and of the modules in it."""
        total: Counter[str] = Counter()
        for cell, number in modules[name].items():
            module = cell.removeprefix("\\")
            inside = contained(module) if module in modules else {cell: 1}
            total.update({kind: number * count for kind, count in inside.items()})
        return total

    return {name: area_of(contained(name), family) for name in modules}


def count_cells(designs: Sequence[str], family: Family) -> list[dict[str, int]]:
    """Number of cells by type that each design becomes, flattened and out of context.

    One Yosys does them all, for it takes long to read what it knows of a family.

    Parameters
    ----------
    designs : sequence of str
        RTLIL texts as ``ModuleTexts.alone`` gives them: no two different modules have one name, and
        the last module is what is meant.
    family : Family
        FPGA family.

    Raises
    ------
    ToolError
        If Yosys fails; holds its message.
    """
    modules: dict[str, str] = {}
    tops = []
    for design in designs:
        found = {match[2]: match[0] for match in _MODULE.finditer(design)}
        modules.update(found)
        tops.append(list(found)[-1])
    text = "".join(f"attribute \\keep_hierarchy 1\n{module}" if name in tops else module
                   for name, module in modules.items())
    instances = "".join(_INSTANCE.format(module=module, number=number)
                        for number, module in enumerate(tops))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "design.il").write_text(text + _TOP.format(instances=instances), encoding="utf-8")
        result = subprocess.run(
            [*YOSYS, "-q", "-l", "yosys.log", "-p", SCRIPT.format(
                command=family.command, styles="" if family.ultra_ram else WITHOUT_ULTRA_RAM)],
            cwd=folder, capture_output=True, text=True)
        if result.returncode:
            log = read_text(folder / "yosys.log").splitlines()
            raise ToolError("\n".join(["Yosys failed:", *log[-5:],
                                       *result.stderr.splitlines()[-1:]]))
        cells = _cells(folder / "cells.json")
        memories = _cells(folder / "memories.json")
    return [{**cells[top], _SCATTERED: memories[top].get(_SCATTERED, 0)} for top in tops]


def _cells(path: Path) -> dict[str, dict[str, int]]:
    """Number of cells by type, for each module."""
    return {name.removeprefix("\\"): module["num_cells_by_type"]
            for name, module in read_json(path)["modules"].items()}
