# SPDX-License-Identifier: BSD-2-Clause
"""Compiles the chip: the core in parts and the control unit, each converted once."""

import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hypercast.rtl.config import Config
from hypercast.sim.library_build import Design, build

__all__ = ["ELEMENTS", "HARNESS_FLAGS", "blocks", "build_chip", "convert_chip"]

#: Elements of the vectors that cores are evaluated with: a group has as many cores, or fewer if the
#: chip has. Sixteen are faster for words of two elements, but slower for words of sixteen, and
#: leave less to do at the same time.
ELEMENTS = 8
#: Options for the harness, which takes long to compile and little time of a cycle.
HARNESS_FLAGS = ("-O1",)


def blocks(config: Config) -> list[str]:
    """Paths of the core's blocks that become parts: large ones that are often idle."""
    return ["array.accumulators", "array.array", "array.feed", "array.sender", "receiver.fetch",
            *[f"receiver.aggregator_{port}" for port in range(config.eject)], "router", "sender",
            "vector.drain", "vector.loss", "vector.update"]


def build_chip(config: Config, *, watched: bool = False, bulk: bool = False,
               cache: Path | None = None,
               progress: Callable[[str], None] = lambda text: None) -> Path:
    """The path of the shared library that simulates a chip; see ``library_build.build``.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    watched : bool
        Whether all that has a name can be looked at; that is slower.
    bulk : bool
        Whether it has a bulk port.
    cache : pathlib.Path, optional
        Where it is kept, instead of ``hypercast.cache.cache_folder()``.
    progress : callable
        Called with a line of text before each slow step.
    """
    harness = Path(__file__).with_name("chip_harness.cpp")
    return build(
        Design(config=config, harness=harness, harness_flags=HARNESS_FLAGS,
               variant=" ".join(["watched"] * watched + ["bulk"] * bulk),
               convert=lambda folder: convert_chip(config, folder, watched=watched, bulk=bulk)),
        cache=cache, progress=progress)


def convert_chip(config: Config, folder: Path, *, watched: bool = False,
                 bulk: bool = False) -> list[str]:
    """Write the chip's C++ to a folder; returns the names of its files, without ``.cpp``.

    ``includes.h`` has the headers of modules; ``sizes.h`` and ``chip.h`` hold the chip together.
    """
    from hypercast.rtl.chip import CONTROL_MODULE, CORE_MODULE, wires  # slow to import
    from hypercast.rtl.export.chip_conversion import parts_to_rtlil
    from hypercast.sim.chip_header import chip_header, link_wires, sizes_header
    from hypercast.sim.cxxrtl_convert import convert, flatten
    from hypercast.sim.gates import read_netlist
    from hypercast.sim.group_code import GroupCode
    from hypercast.sim.partition import split

    connections = wires(config, bulk=bulk)
    parts = parts_to_rtlil(config, bulk=bulk, zeros=False)  # CXXRTL begins with zeros anyway
    core = {CORE_MODULE: parts.pop(CORE_MODULE)}
    with ThreadPoolExecutor(1) as pool:  # Yosys converts both at the same time
        control = pool.submit(convert, parts, folder)
        module = flatten(core, folder, named=watched)[CORE_MODULE]
        cells = split(module, blocks(config))
        part_of = {cell: part for part, names in cells.items() for cell in names}
        public = _public(module) if watched else {}
        module["netnames"] |= {
            name: {"bits": bits} for name, bits in public.items() if name not in module["netnames"]}
        code = GroupCode(read_netlist(module, part_of), list(cells), link_wires(connections),
                         public)
        files = code.write(folder, CORE_MODULE)
        modules = control.result()
    (folder / "sizes.h").write_text(sizes_header(config, code, ELEMENTS))
    (folder / "chip.h").write_text(chip_header(config, code, ELEMENTS, connections))
    (folder / "includes.h").write_text(
        f'#include "{CONTROL_MODULE}.h"\n' + "#define HYPERCAST_BULK\n" * bulk)
    return [*files, *modules]


#: Yosys' name for a slice of a net whose slices are driven by several gates.
_SLICE = re.compile(r"(.+)\[(\d+)(?::(\d+))?\]")


def _public(module: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Nets that the hardware's sources named, by name, but for clock and reset of blocks."""
    found: dict[str, list[Any]] = {}
    for name, net in module["netnames"].items():
        if net["hide_name"] or "$" in name or name.rpartition(".")[2] in ("clk", "rst"):
            continue
        first = 0
        if match := _SLICE.fullmatch(name):
            name, first = match[1], int(match[3] or match[2])
        bits = found.setdefault(name, [])
        bits += ["x"] * (first + len(net["bits"]) - len(bits))
        bits[first:first + len(net["bits"])] = net["bits"]
    return found
