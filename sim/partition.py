"""Splits a flat netlist into parts that a simulator may leave out while nothing in them moves.

A block becomes a part without those of its gates from which outside of it something depends in the
same cycle, the ``ready`` of a stream for instance; these go to ``REST``. So every other part's
outputs come from registers, and evaluating ``REST`` first and then the others, in any order, makes
a clock cycle.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

__all__ = ["REST", "connections", "identifier", "split"]

#: A port: its module, None for that itself, and its name; and two that a wire joins.
End: TypeAlias = tuple[str | None, str]
Wire: TypeAlias = tuple[End, End]

#: Name of the part that has all that no block keeps.
REST = "rest"


def identifier(name: str) -> str:
    """What Yosys calls an object inside, from its name in Yosys' JSON."""
    return name if name.startswith(("$", "\\")) else f"\\{name}"


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
    ValueError
        If there is no such block.
    """
    cells = module["cells"]
    block_of = {name: _block_of(name, blocks) for name in cells}
    if missing := set(blocks) - set(block_of.values()):
        raise ValueError(f"the netlist has no block {', '.join(sorted(missing))}")
    driver = {bit: name for name, cell in cells.items() for bit in _bits(cell, "output")}
    sources = {name: {driver[bit] for bit in _bits(cell, "input") if bit in driver}
               for name, cell in cells.items()}

    # Gates that are seen outside of their block in the same cycle, and what they depend on.
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


def connections(module: Mapping[str, Any]) -> list[Wire]:
    """The wires of a module that only has instances of parts.

    Parameters
    ----------
    module : dict
        The module, of Yosys' JSON.

    Returns
    -------
    list
        (source, destination) pairs of (module, port); for the module's own ports, (``None``,
        port).

    Raises
    ------
    ValueError
        If a port is not connected to exactly one whole port.
    """
    ends: list[tuple[End, list[Any], bool]] = [
        ((None, port), value["bits"], value["direction"] == "input")
        for port, value in module["ports"].items()]
    ends += [((cell["type"], port), bits, cell["port_directions"][port] == "output")
             for cell in module["cells"].values() for port, bits in cell["connections"].items()]
    source = {tuple(bits): end for end, bits, drives in ends if drives}
    pairs = []
    for end, bits, drives in ends:
        if bits and not drives:
            if tuple(bits) not in source:
                raise ValueError(f"port {end[1]} of {end[0]} is not driven by one whole port")
            pairs.append((source[tuple(bits)], end))
    return pairs
