"""Synthesis with Yosys: what a design takes of an FPGA family."""

import dataclasses
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from hypercast.host.files.reading.json_file import read_json
from hypercast.host.files.reading.regular_file import read_text
from hypercast.rtl.export.yosys import YOSYS

__all__ = ["FAMILIES", "Area", "Family", "hierarchical_areas", "submodules", "synthesise"]


@dataclass(frozen=True, kw_only=True)
class Area:
    """What a design takes, or one cell of it.

    Parameters
    ----------
    luts : int
        LUTs used as logic: with 4 inputs on ECP5 (those of carry cells included), with up to 6 on
        AMD's FPGAs.
    small_luts : int
        LUTs used as logic, on AMD's FPGAs, with at most 3 inputs.
    ram_luts : int
        LUTs used as distributed RAM or shift registers, those of the write ports included.
    flip_flops : int
        Flip-flops.
    carry_bits : int
        Bits of carry chains.
    block_rams : float
        Block RAMs, of 18 Kibit on ECP5 and 36 Kibit on AMD's FPGAs.
    ultra_rams : int
        UltraRAMs.
    dsps : int
        DSP multipliers.
    scattered_memories : int
        Memories that no kind of RAM fits, and that became flip-flops and multiplexers.
    """

    luts: int = 0
    small_luts: int = 0
    ram_luts: int = 0
    flip_flops: int = 0
    carry_bits: int = 0
    block_rams: float = 0
    ultra_rams: int = 0
    dsps: int = 0
    scattered_memories: int = 0

    @property
    def lut_places(self) -> int:
        """Places that the LUTs take on AMD's FPGAs, those used as RAM included.

        Two with at most 3 inputs share one, as Yosys' estimate of logic cells has it; but every
        bit of a carry chain has a place for itself.
        """
        return self.luts + self.ram_luts - max(0, self.small_luts - self.carry_bits) // 2


@dataclass(frozen=True, kw_only=True)
class Family:
    """How to synthesise for an FPGA family.

    Parameters
    ----------
    command : str
        Yosys' command, for a design that is a part of a larger one.
    cells : dict
        Area of each cell it may use.
    """

    command: str
    cells: dict[str, Area]


_LUT = Area(luts=1)
_SMALL_LUT = Area(luts=1, small_luts=1)
_FLIP_FLOP = Area(flip_flops=1)
_NOTHING = Area()
_DSP = Area(dsps=1)
_AMD_CELLS = {
    "INV": _SMALL_LUT, **{f"LUT{inputs}": _SMALL_LUT for inputs in range(1, 4)},
    **{f"LUT{inputs}": _LUT for inputs in range(4, 7)},
    "MUXF7": _NOTHING, "MUXF8": _NOTHING, "MUXF9": _NOTHING,
    "CARRY4": Area(carry_bits=4), "CARRY8": Area(carry_bits=8),
    "RAM32X1S": Area(ram_luts=1), "RAM64X1S": Area(ram_luts=1),
    "RAM32X1D": Area(ram_luts=2), "RAM32M": Area(ram_luts=4), "RAM32M16": Area(ram_luts=8),
    "RAM64X1D": Area(ram_luts=2), "RAM64M": Area(ram_luts=4), "RAM64M8": Area(ram_luts=8),
    "RAM128X1D": Area(ram_luts=4), "RAM256X1D": Area(ram_luts=8),
    "SRL16E": Area(ram_luts=1), "SRLC32E": Area(ram_luts=1),
    "FDRE": _FLIP_FLOP, "FDSE": _FLIP_FLOP, "FDCE": _FLIP_FLOP, "FDPE": _FLIP_FLOP,
}
_AMD_OPTIONS = "-flatten -noiopad -noclkbuf"

#: FPGA families by name.
FAMILIES = {
    # With multiplexers between LUTs Yosys spends many more LUTs, and routing takes back the time.
    "ECP5": Family(command="synth_ecp5 -nowidelut", cells={
        "LUT4": _LUT,
        "CCU2C": Area(luts=2, carry_bits=2),
        "TRELLIS_DPR16X4": Area(ram_luts=6),
        "TRELLIS_FF": _FLIP_FLOP,
        "DP16KD": Area(block_rams=1), "PDPW16KD": Area(block_rams=1),
        "MULT18X18D": _DSP,
        "TRELLIS_IO": _NOTHING, "EHXPLLL": _NOTHING, "FD1S3BX": _FLIP_FLOP,
    }),
    "7 series": Family(command=f"synth_xilinx -family xc7 {_AMD_OPTIONS}", cells={
        **_AMD_CELLS,
        "RAMB18E1": Area(block_rams=0.5), "RAMB36E1": Area(block_rams=1), "DSP48E1": _DSP,
    }),
    "UltraScale+": Family(command=f"synth_xilinx -family xcup -uram {_AMD_OPTIONS}", cells={
        **_AMD_CELLS,
        "RAMB18E2": Area(block_rams=0.5), "RAMB36E2": Area(block_rams=1), "DSP48E2": _DSP,
        "URAM288": Area(ultra_rams=1),
    }),
}

#: Cells in which Yosys keeps names; they are no hardware.
_NO_CELLS = {"$scopeinfo"}
# ABC, linked into this Yosys, closes its standard output and error: whatever is printed after the
# first mapping to LUTs is lost, error messages too. Only what goes to files is complete.
# An element of an array port has a name, such as word[0], that Yosys itself then gives to a bit of
# the port, and stops; so names inside the design are made private first.
_SCRIPT = ("read_rtlil design.il; {hidden}hierarchy {top}; rename -hide w:*; "
           "{command} -run :map_ffram; tee -q -o memories.json stat -json; "
           "{command} -run map_ffram:; tee -q -o cells.json stat -json")


def _cells(path: Path) -> dict[str, int]:
    """Number of cells by type."""
    cells: dict[str, int] = read_json(path)["design"]["num_cells_by_type"]
    return cells


def _area(cells: Mapping[str, int], family: Family, hidden: Collection[str] = ()) -> Area:
    """Area of a number of cells by type, without those that are ``hidden``.

    Raises
    ------
    RuntimeError
        If the area of one is not known.
    """
    ignored = _NO_CELLS.union(hidden)
    unknown = cells.keys() - family.cells.keys() - ignored
    if unknown:
        raise RuntimeError(f"Yosys used cells whose area is not known: "
                           f"{', '.join(sorted(unknown))}; add them to FAMILIES in {__name__}")
    return Area(**{name: sum(number * getattr(family.cells[cell], name)
                             for cell, number in cells.items() if cell not in ignored)
                   for name in Area.__dataclass_fields__})


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
    RuntimeError
        If a cell's area is not known.
    """
    modules = {name.removeprefix("\\"): module["num_cells_by_type"]
               for name, module in read_json(path)["modules"].items()}

    def contained(name: str) -> Counter[str]:
        """Number of cells by type, of this module and of those in it."""
        total: Counter[str] = Counter()
        for cell, number in modules[name].items():
            module = cell.removeprefix("\\")
            inside = contained(module) if module in modules else {cell: 1}
            total.update({kind: number * count for kind, count in inside.items()})
        return total

    return {name: _area(contained(name), family) for name in modules}


def submodules(design: str, module: str) -> dict[str, str]:
    """Modules that a module of a design consists of, by the names they have in it.

    Parameters
    ----------
    design : str
        RTLIL text, as from ``amaranth.back.rtlil``.
    module : str
        Name of the module.
    """
    found = re.search(rf"^module \\{re.escape(module)}$(.*?)^end$", design, re.M | re.S)
    assert found, module
    cells = re.findall(r"^  cell \\(\S+) \\([^\s$]+)", found[1], re.M)
    return {name: part for part, name in cells}


def synthesise(design: str, family: Family, *, top: str | None = None,
               without: Collection[str] = ()) -> Area:
    """Area of a design, flattened and out of context.

    Parameters
    ----------
    design : str
        RTLIL text, as from ``amaranth.back.rtlil``.
    family : Family
        FPGA family.
    top : str or None
        Module of the design, with all it contains; None for all of it.
    without : iterable of str
        Modules in it that are not to be counted.

    Raises
    ------
    RuntimeError
        If Yosys fails (holds its message), or uses a cell whose area is not known.
    """
    hierarchy = f"-top {top}" if top else "-auto-top"
    hidden = "".join(f"blackbox {module}; " for module in without)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "design.il").write_text(design, encoding="utf-8")
        result = subprocess.run(
            [*YOSYS, "-q", "-l", "yosys.log", "-p",
             _SCRIPT.format(command=family.command, top=hierarchy, hidden=hidden)],
            cwd=folder, capture_output=True, text=True)
        if result.returncode:
            log = read_text(Path(folder, "yosys.log")).splitlines()
            raise RuntimeError("\n".join(["Yosys failed:", *log[-5:],
                                          *result.stderr.splitlines()[-1:]]))
        cells = _cells(Path(folder, "cells.json"))
        memories = _cells(Path(folder, "memories.json")).get("$mem_v2", 0)
    return dataclasses.replace(_area(cells, family, without), scattered_memories=memories)
