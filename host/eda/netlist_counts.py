# SPDX-License-Identifier: BSD-2-Clause
"""Counts of a netlist before it is synthesised: bits of operations, and memories."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Self

__all__ = ["Counts", "NetlistMemory", "count"]

_MODULE = re.compile(r"^module \\(\S+)\n(.*?)^end\n", re.MULTILINE | re.DOTALL)
_INSTANCE = re.compile(r"^  cell \\(\S+) ", re.MULTILINE)
_CELL = re.compile(r"^  cell (\$\S+) \S+\n((?:    .*\n)*)  end$", re.MULTILINE)
_PARAMETER = re.compile(r"^    parameter(?: signed)? \\(\w+) \"?(\S+?)\"?$", re.MULTILINE)
_CONNECTION = re.compile(r"^    connect \\(\w+) (.+)$", re.MULTILINE)
_PROCESS = re.compile(r"^  process .*?^  end$", re.MULTILINE | re.DOTALL)
_MEMORY = re.compile(r"^((?:  attribute .*\n)*)  memory width (\d+) size (\d+) (\S+)$",
                     re.MULTILINE)
_CONSTANT = re.compile(r"-?\d+'[01x]+$|\d+$")
_SLICE = re.compile(r"\[(\d+)(?::(\d+))?\]$")
_NAME = re.compile(r"\S+")
_WIRE = re.compile(r"^  wire width (\d+) (?:(?:input|output|inout) \d+ +)?(\S+)$", re.MULTILINE)

#: Cells by kind: their cost follows from the widest operand, or from the result.
_OPERANDS = {"$eq": "equal", "$ne": "equal", "$lt": "compare", "$le": "compare", "$gt": "compare",
             "$ge": "compare", "$reduce_and": "reduce", "$reduce_or": "reduce",
             "$reduce_xor": "reduce", "$reduce_bool": "reduce", "$logic_not": "reduce"}
_RESULTS = {"$add": "add", "$sub": "add", "$neg": "add", "$and": "logic", "$or": "logic",
            "$xor": "logic", "$mux": "mux", "$dff": "register"}
_SHIFTS = {"$shl", "$shr", "$sshl", "$sshr", "$shift", "$shiftx"}
#: A constant operand leaves nothing of these.
_FREE = {"$and", "$or", "$xor", *_SHIFTS}


@dataclass(frozen=True)
class NetlistMemory:
    """A memory.

    Parameters
    ----------
    words, width : int
        Number of words, and bits of each.
    registered : bool
        Whether it is read synchronously, so that it may be a block RAM.
    style : str
        What kind of RAM it is asked to be; empty if none.
    reads : int
        Read ports.
    writable : bool
        Whether it can be written; it is a table otherwise.
    """

    words: int
    width: int
    registered: bool
    style: str = ""
    reads: int = 1
    writable: bool = True


@dataclass
class Counts:
    """Counts of a module, with all that is in it.

    Parameters
    ----------
    bits : Counter
        Bits of operations by kind: ``add``, ``compare``, ``equal``, ``logic``, ``reduce``, ``mux``,
        ``shift`` (times its stages), ``choice`` (values among which a condition chooses), ``hold``
        (the same of registers, but for resets) and ``register``.
    products : list of (int, int)
        Widths of the operands of multipliers.
    memories : list of NetlistMemory
        Memories.
    """

    bits: Counter[str] = field(default_factory=Counter)
    products: list[tuple[int, int]] = field(default_factory=list)
    memories: list[NetlistMemory] = field(default_factory=list)

    @classmethod
    def of(cls, values: dict[str, Any]) -> Self:
        """From ``to_dict``."""
        return cls(bits=Counter(values["bits"]),
                   products=[(left, right) for left, right in values["products"]],
                   memories=[NetlistMemory(**one) for one in values["memories"]])

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"bits": dict(self.bits), "products": self.products,
                "memories": [asdict(memory) for memory in self.memories]}

    def add(self, other: "Counts") -> None:
        """Add what another module consists of."""
        self.bits.update(other.bits)
        self.products += other.products
        self.memories += other.memories


def count(design: str) -> Counts:
    """Counts of a design.

    Parameters
    ----------
    design : str
        RTLIL text, as ``ModuleTexts.alone`` gives it: a module comes after the modules in it.
    """
    found: dict[str, Counts] = {}
    counts = Counts()
    for name, text in _MODULE.findall(design):
        counts = _own(text)
        for kind in _INSTANCE.findall(text):
            counts.add(found[kind])
        found[name] = counts
    return counts


def _own(text: str) -> Counts:
    counts = Counts()
    registers, written = set(), set()
    ports: dict[str, tuple[int, bool]] = {}
    for kind, body in _CELL.findall(text):
        parameters = dict(_PARAMETER.findall(body))
        connections = dict(_CONNECTION.findall(body))
        if kind == "$dff":
            registers.add(_NAME.match(connections["D"])[0])  # type: ignore[index]
        if kind in ("$memrd_v2", "$memwr_v2"):
            reads, registered = ports.get(parameters["MEMID"], (0, False))
            if kind == "$memwr_v2":
                written.add(parameters["MEMID"].replace("\\\\", "\\"))
            else:
                ports[parameters["MEMID"]] = reads + 1, parameters["CLK_ENABLE"].endswith("1")
            continue
        _count_cell(counts, kind, parameters, connections)
    widths = {name: int(width) for width, name in _WIRE.findall(text)}
    for process in _PROCESS.findall(text):
        for target, bits in _choices(process, widths):
            counts.bits["hold" if target in registers else "choice"] += bits
    for attributes, width, words, name in _MEMORY.findall(text):
        style = re.search(r'ram_style "(\w+)"', attributes)
        reads, registered = ports.get("\\" + name, ports.get(name, (1, True)))
        counts.memories.append(NetlistMemory(
            words=int(words), width=int(width), registered=registered,
            style=style[1] if style else "", reads=reads, writable=name in written))
    return counts


def _count_cell(counts: Counts, kind: str, parameters: dict[str, str],
                connections: dict[str, str]) -> None:
    def width(*names: str) -> int:
        return max(int(parameters[name]) for name in names if name in parameters)

    constant = any(_CONSTANT.match(connections.get(port, "")) for port in ("A", "B"))
    if kind == "$mul":
        if constant:
            counts.bits["add"] += width("Y_WIDTH")
        else:
            counts.products.append((width("A_WIDTH"), width("B_WIDTH")))
    elif constant and kind in _FREE:
        pass
    elif kind in _SHIFTS:
        counts.bits["shift"] += width("Y_WIDTH") * min(width("B_WIDTH"), 6)
    elif kind in _OPERANDS:
        counts.bits[_OPERANDS[kind]] += width("A_WIDTH", "B_WIDTH")
    elif kind in _RESULTS:
        counts.bits[_RESULTS[kind]] += width("Y_WIDTH", "WIDTH")


def _choices(process: str, widths: dict[str, int]) -> Iterator[tuple[str, int]]:
    """Signals and bits of the values that conditions other than a reset choose."""
    depth, reset = 0, 0
    for line in process.splitlines()[1:-1]:
        text = line.strip()
        if text.startswith("switch"):
            depth += 1
            if text.startswith("switch \\rst "):
                reset = depth
        elif text == "end":
            reset = 0 if reset == depth else reset
            depth -= 1
        elif text.startswith("assign") and depth and not reset:
            place = text.removeprefix("assign ")
            name = place.split(" ", 1)[0]
            part = _SLICE.match(place.split(" ")[1]) if " " in place else None
            yield name, (int(part[1]) - int(part[2] or part[1]) + 1 if part
                         else widths.get(name, 1))
