# SPDX-License-Identifier: BSD-2-Clause
"""C++ that evaluates a module for a group of cores at once, part by part."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from hypercast.sim.gates import Bits, GateMemory, GateNetlist, MemoryPort
from hypercast.sim.group_steps import KEPT, GroupSteps, Step
from hypercast.sim.limbs import Limb
from hypercast.sim.vector_code import VectorOperands, gate_code, literal

__all__ = ["GroupCode", "Place"]

#: Steps of a function: compilers take more than twice as long for a function twice as long.
_FUNCTION_STEPS = 400
#: Steps of a file, so that many are compiled at the same time.
_FILE_STEPS = 3000


@dataclass(frozen=True)
class Place:
    """Where a limb is kept.

    Attributes
    ----------
    area : str
        ``inputs``, ``shown`` (outputs of ``rest`` for others), ``state`` or ``scratch``.
    part : str
        The part that it belongs to.
    offset : int
        Elements of 8 bits, of one core, before it.
    """

    area: str
    part: str
    offset: int


class GroupCode:
    """A module's C++.

    Parameters
    ----------
    netlist : GateNetlist
        The module.
    parts : sequence of str
        Parts of the module; ``REST`` is evaluated first.
    wires : sequence
        (output, input) pairs of names of ports that wires join, so that both are cut alike.
    watched : sequence of str
        Names of nets that are kept where they can be looked at.
    """

    def __init__(self, netlist: GateNetlist, parts: Sequence[str],
                 wires: Iterable[tuple[str, str]] = (), watched: Iterable[str] = ()) -> None:
        self.netlist = netlist
        self.parts = list(parts)
        self.watched = list(watched)
        self.steps = GroupSteps(netlist, self.parts, wires, self.watched)
        self.places = self.steps.places
        self._place()

    # Where limbs are.

    def _functions_of(self, part: str) -> list[list[Step]]:
        steps = self.steps.by_part[part]
        count = max(1, -(-len(steps) // _FUNCTION_STEPS))
        return [steps[len(steps) * index // count:len(steps) * (index + 1) // count]
                for index in range(count)]

    def _place(self) -> None:
        readers, shown = self.steps.readers(), self.steps.seen_limbs()
        areas: dict[tuple[str, str], list[Limb]] = defaultdict(list)
        for limbs in self.steps.limbs:
            gate = limbs[0].gate
            if gate.kind == "input":
                areas["inputs", ""] += limbs
            elif gate.kind in KEPT:
                areas["state", gate.part] += limbs
        for part in self.parts:
            used: dict[int, set[int]] = defaultdict(set)
            given: dict[int, Limb] = {}
            for index, steps in enumerate(self._functions_of(part)):
                for step in steps:
                    for limb in step.gives:
                        given[limb.number] = limb
                        used[limb.number].add(index)
                    for bits in step.operands:
                        for limb in self.steps.limbs_of(bits):
                            used[limb.number].add(index)
            for number, limb in given.items():
                if limb.gate.kind in KEPT:
                    continue
                if limb in shown:
                    areas["shown", part] .append(limb)
                elif len(used[number]) > 1 or limb in self.steps.watched:
                    areas["scratch", part].append(limb)
        self.sizes: dict[tuple[str, str], int] = {}
        self.ranges: dict[tuple[str, str], list[tuple[int, int, list[str]]]] = {}
        self.where: dict[int, Place] = {}
        for (area, part), limbs in areas.items():
            outside = {limb.number: sorted(readers[limb.number] - {part}) for limb in limbs}
            limbs.sort(key=lambda limb: (outside[limb.number], -limb.element, limb.number))
            offset = 0
            ranges = self.ranges[area, part] = []
            read_by = [outside[limb.number] for limb in limbs]
            for parts, group in groupby(zip(read_by, limbs, strict=True), itemgetter(0)):
                first = offset = -(-offset // 8) * 8
                for _, limb in group:
                    self.where[limb.number] = Place(area, part, offset)
                    offset += limb.element // 8
                ranges.append((first, offset - first, parts))
            self.sizes[area, part] = -(-offset // 8) * 8

    # C++.

    def address(self, limb: Limb, *, following: bool = False) -> str:
        """C++ of a limb where it is kept; ``following``: in the next cycle."""
        place = self.where[limb.number]
        area = {"state": f"{'next' if following else 'state'}_{place.part}",
                "scratch": f"scratch_{place.part}"}.get(place.area, place.area)
        return f"AT({limb.element}, {area}, {place.offset})"

    def areas(self) -> Iterator[str]:
        """C++ that gives names to all areas of a group ``g``."""
        yield "    char *const inputs = g->inputs, *const shown = g->shown;"
        for index, part in enumerate(self.parts):
            yield (f"    char *const state_{part} = g->state[{index}], "
                   f"*const next_{part} = g->next[{index}], "
                   f"*const scratch_{part} = g->scratch[{index}];")

    def write(self, folder: Path, module: str) -> list[str]:
        """Write the files of all functions; returns their names without ``.cpp``."""
        self.functions: dict[str, list[str]] = {}
        texts: list[tuple[int, str]] = []
        for part in self.parts:
            self.functions[part] = []
            for index, steps in enumerate(self._functions_of(part)):
                name = f"{part}_{index}"
                self.functions[part].append(name)
                texts.append((len(steps), _Function(self, part, steps).text(name)))
        files: list[tuple[int, list[str]]] = []
        for count, text in texts:
            if not files or files[-1][0] + count > _FILE_STEPS:
                files.append((0, []))
            files[-1] = files[-1][0] + count, [*files[-1][1], text]
        names = []
        for index, (_, found) in enumerate(files):
            names.append(f"{module}_{index}")
            (folder / f"{names[-1]}.cpp").write_text(
                "\n".join(['#include "group.h"', "", *found]))
        return names


class _Function:
    """A function of C++ that does some steps of a part."""

    def __init__(self, code: GroupCode, part: str, steps: Sequence[Step]) -> None:
        self._code = code
        self._part = part
        self._lines: list[str] = []
        self._names: dict[int, str] = {}
        self._kept: dict[str, str] = {}
        self._operands = VectorOperands(code.places, self._name, self._keep)
        for step in steps:
            if step.write:
                self._write(step.write)
            elif step.gate and step.gate.memory:
                self._read(step)
            else:
                self._give(step)

    def text(self, name: str) -> str:
        return "\n".join([f"void {name}(Group *g) {{", *self._code.areas(), *self._lines, "}", ""])

    def _name(self, limb: Limb) -> str:
        if limb.number not in self._names:
            name = f"v{limb.number}"
            self._lines.append(f"    const u{limb.element} {name} = {self._code.address(limb)};")
            self._names[limb.number] = name
        return self._names[limb.number]

    def _keep(self, expression: str, size: int) -> str:
        if expression not in self._kept:
            name = f"t{len(self._kept)}"
            self._lines.append(f"    const u{size} {name} = {expression};")
            self._kept[expression] = name
        return self._kept[expression]

    def _give(self, step: Step) -> None:
        limb, gate = step.gives[0], step.gate
        assert gate
        value = gate_code(gate.kind, limb.width, step.operands, self._operands)
        if gate.kind == "register":
            self._lines.append(f"    {self._code.address(limb, following=True)} = {value};")
            return
        self._names[limb.number] = name = f"v{limb.number}"
        self._lines.append(f"    const u{limb.element} {name} = {value};")
        if limb.number in self._code.where:
            self._lines.append(f"    {self._code.address(limb)} = {name};")

    def _read(self, step: Step) -> None:
        """A port of a memory: every core reads its own."""
        gate = step.gate
        assert gate and gate.memory
        memory = gate.memory.memory
        address = self._operands.vector(step.operands[0], 32)
        lines = [f"    {{ const u32 address = {address};"]
        clocked = gate.kind == "fetch"
        places = []
        for limb in step.gives:
            kind = f"uint{limb.element}_t"
            if clocked:
                place = self._code.address(limb, following=True)
                lines.append(f"    {place} = {self._code.address(limb)};")
                places.append(f"(({kind} *)&{place})[i]")
            else:
                self._lines.append(f"    u{limb.element} v{limb.number} = {{}};")
                places.append(f"(({kind} *)&v{limb.number})[i]")
        if clocked:
            lines.append(f"    const u8 enable = {self._operands.vector(step.operands[1], 8)};")
        lines.append("    for (int i = 0; i < kMembers; i++) {")
        if clocked:
            lines.append("        if (!enable[i]) continue;")
        lines.append(self._word(memory, step.operands[0], "0" if clocked else None, places))
        # Bits of the word that each limb has; bits that Yosys found unused are in none.
        driven = {bit: index for index, bit in enumerate(gate.memory.data)}
        for limb, place in zip(step.gives, places, strict=True):
            first = driven[gate.bits[limb.first]]
            lines.append(f"        {place} = {_slice(first, limb.width)};")
        lines.append("    } }")
        self._lines += lines
        if not clocked:
            for limb in step.gives:
                self._names[limb.number] = name = f"v{limb.number}"
                if limb.number in self._code.where:
                    self._lines.append(f"    {self._code.address(limb)} = {name};")

    def _word(self, memory: GateMemory, address: Bits, beyond: str | None,
              places: Sequence[str]) -> str:
        """C++ that finds the word of core ``i``; none is beyond a memory's end."""
        index = self._code.netlist.memories.index(memory)
        chunks = -(-memory.width // 32)
        text = (f"        uint32_t *const w = g->memory[{index} * kMembers + i] + "
                f"size_t(address[i]) * {chunks};")
        if 1 << len(address) <= memory.depth:
            return text
        zeros = "".join(f"{place} = 0; " for place in places)
        return f"        if (address[i] >= {memory.depth}) {{ {zeros}continue; }}\n{text}"

    def _write(self, port: MemoryPort) -> None:
        memory = port.memory
        enables = {bit: self._operands.bit(bit) for bit in dict.fromkeys(port.enable)}
        used = {bit: value for bit, value in enables.items() if value != 0}
        lines = [f"    {{ const u32 address = {self._operands.vector(port.address, 32)};"]
        names = {}
        for number, (bit, value) in enumerate(used.items()):
            names[bit] = f"e{number}"
            text = value if isinstance(value, str) else f"ALL(8, {value})"
            lines.append(f"    const u8 e{number} = {text};")
        chunks = range(-(-memory.width // 32))
        for chunk in chunks:
            data = self._operands.vector(port.data[32 * chunk:32 * chunk + 32], 32)
            lines.append(f"    const u32 d{chunk} = {data};")
        lines.append("    for (int i = 0; i < kMembers; i++) {")
        lines.append(f"        if (!({' | '.join(f'{name}[i]' for name in names.values())})) "
                     f"continue;")
        lines.append(self._word(memory, port.address, "", []))
        for chunk in chunks:
            for bit, name in names.items():
                mask = sum(1 << index for index, enable in enumerate(
                    port.enable[32 * chunk:32 * chunk + 32]) if enable == bit)
                if mask:
                    lines.append(f"        if ({name}[i]) g->wrote |= put(w[{chunk}], "
                                 f"d{chunk}[i], {mask:#x}u);")
        lines.append("    } }")
        self._lines += lines


def _slice(first: int, width: int) -> str:
    """C++ of bits of a memory's word ``w``, which is in chunks of 32 bits."""
    chunk, shift = divmod(first, 32)
    last = (first + width - 1) // 32
    terms = []
    for index in range(chunk, last + 1):
        move = 32 * (index - chunk) - shift
        value = f"uint64_t(w[{index}])" if last > chunk else f"w[{index}]"
        terms.append(f"({value} {'<<' if move > 0 else '>>'} {abs(move)})" if move else value)
    return f"({' | '.join(terms)}) & {literal((1 << width) - 1)}"
