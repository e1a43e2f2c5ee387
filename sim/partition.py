# SPDX-License-Identifier: BSD-2-Clause
"""Splits a flat netlist into parts that a simulator may leave out while nothing in them moves.

A block becomes a part. But gates whose outputs decide something outside of the block in the same
cycle, the ``ready`` of a stream for instance, go to ``REST``. So every other part's outputs come
from registers, and evaluating ``REST`` first and then the others, in any order, makes a clock
cycle.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from hypercast.errors import InputError

__all__ = ["REST", "split"]

#: Name of the part that has all that no block keeps.
REST = "rest"


def _bits(cell: Mapping[str, Any], direction: str) -> list[Any]:
    """All bits (numbers; constants are text) that a cell reads (``input``) or drives."""
    return [bit for port, bits in cell["connections"].items()
            if cell["port_directions"][port] == direction for bit in bits]


def _is_register(cell: Mapping[str, Any]) -> bool:
    """Whether a cell's output changes with the clock only."""
    if cell["type"].startswith("$mem"):
        return "0" not in cell["parameters"]["RD_CLK_ENABLE"]
    return bool(cell["type"] == "$dff")


def _block_of(name: str, blocks: Sequence[str]) -> str | None:
    path = name.removeprefix("$flatten").replace("\\", "")
    return next((block for block in blocks if path.startswith(f"{block}.")), None)


def split(module: Mapping[str, Any], blocks: Sequence[str]) -> dict[str, list[str]]:
    """Which part each cell belongs to.

    Parameters
    ----------
    module : dict
        A flat module of Yosys' JSON, its memories collected, with no flip-flops but ``$dff``.
    blocks : sequence of str
        Paths of blocks, such as ``vector.drain``, none inside another.

    Returns
    -------
    dict
        Names of cells by part: one for each block, its path with underscores, and ``REST``.

    Raises
    ------
    InputError
        If there is no such block.
    """
    cells = module["cells"]
    block_of = {name: _block_of(name, blocks) for name in cells}
    if missing := set(blocks) - set(block_of.values()):
        raise InputError(f"the netlist has no block {', '.join(sorted(missing))}")
    driver = {bit: name for name, cell in cells.items() for bit in _bits(cell, "output")}
    sources = {name: {driver[bit] for bit in _bits(cell, "input") if bit in driver}
               for name, cell in cells.items()}

    # Gates that are seen outside of their block in the same cycle, and the gates that they depend
    # on.
    seen = deque(source for name in cells for source in sources[name]
                 if block_of[source] != block_of[name])
    seen += [driver[bit] for port in module["ports"].values() if port["direction"] == "output"
             for bit in port["bits"] if bit in driver]
    while seen:
        name = seen.popleft()
        if block_of[name] and not _is_register(cells[name]):
            seen += [source for source in sources[name] if block_of[source] == block_of[name]]
            block_of[name] = None

    parts: dict[str, list[str]] = {REST: [], **{block.replace(".", "_"): [] for block in blocks}}
    for name, block in block_of.items():
        parts[block.replace(".", "_") if block else REST].append(name)
    return parts
