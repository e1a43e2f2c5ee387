# SPDX-License-Identifier: BSD-2-Clause
"""C++ that evaluates a module for a group of cores at once, part by part."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from hypercast.sim.gates import Bits, Gate, GateMemory, GateNetlist, MemoryPort
from hypercast.sim.pieces import BITWISE, Piece, cut
from hypercast.sim.vector_code import VectorOperands, gate_code, literal

__all__ = ["GroupCode", "Place"]

#: Steps of a function: compilers take more than twice as long for a function twice as long.
_FUNCTION_STEPS = 400
#: Steps of a file, so that many are compiled at the same time.
_FILE_STEPS = 3000
#: Kinds of gates that keep what they give until the next clock cycle.
_KEPT = ("register", "fetch")


@dataclass(frozen=True)
class Place:
    """Where a piece is kept.

    Attributes
    ----------
    area : str
        ``inputs``, ``shown`` (what `rest` shows others), ``state`` or ``scratch``.
    part : str
        The part whose it is.
    offset : int
        Elements of 8 bits, of one core, before it.
    """

    area: str
    part: str
    offset: int


@dataclass(eq=False)
class _Step:
    """What a function does: a gate's piece, a port of a memory that is read, or one written."""

    operands: list[Bits]
    gives: list[Piece]
    gate: Gate | None = None
    write: MemoryPort | None = None


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
        inputs = [Gate("input", "", [bit for bit in bits if isinstance(bit, int)], [])
                  for direction, bits in netlist.ports.values() if direction == "input"]
        self._gates = [*inputs, *netlist.gates]
        # Wires are cut like a gate that passes bits on.
        joined = [Gate("register", "", [bit for bit in netlist.ports[end][1]
                                        if isinstance(bit, int)], [netlist.ports[begin][1]])
                  for begin, end in wires]
        self.places = cut(self._gates, [
            bits for port in self._writes() for bits in (port.address, port.data)], joined)
        self._pieces: dict[int, list[Piece]] = defaultdict(list)
        for piece in dict.fromkeys(piece for piece, _ in self.places.values()):
            self._pieces[id(piece.gate)].append(piece)
        self._steps = {part: self._order(part) for part in self.parts}
        self._place()

    def _writes(self) -> Iterator[MemoryPort]:
        for memory in self.netlist.memories:
            yield from memory.writes

    # What is done, in order.

    def _pieces_of(self, bits: Iterable[object]) -> list[Piece]:
        return list(dict.fromkeys(self.places[bit][0] for bit in bits if bit in self.places))

    def _step_of(self, piece: Piece) -> _Step:
        gate = piece.gate
        if gate.kind in BITWISE:
            operands = [bits[piece.first:piece.first + piece.width]
                        if len(bits) == len(gate.bits) else bits for bits in gate.operands]
            if gate.kind == "mux":
                operands[2] = gate.operands[2]
            return _Step(operands, [piece], gate)
        return _Step(gate.operands, self._pieces[id(gate)], gate)

    def _seen_pieces(self) -> set[Piece]:
        """Pieces that are seen outside of their part."""
        seen = set(self._pieces_of(bit for direction, bits in self.netlist.ports.values()
                                   if direction == "output" for bit in bits))
        for gate in self.netlist.gates:
            seen |= {piece for bits in gate.operands for piece in self._pieces_of(bits)
                     if piece.gate.part != gate.part}
        for port in self._writes():
            seen |= {piece for bits in (port.address, port.enable, port.data)
                     for piece in self._pieces_of(bits) if piece.gate.part != port.memory.part}
        return seen

    def _order(self, part: str) -> list[_Step]:
        """The steps of a part: each after those it depends on, writing memories last."""
        found: list[_Step] = []
        done: set[int] = set()

        def visit(step: _Step) -> None:
            stack = [(step, iter(self._before(step, part)))]
            while stack:
                current, before = stack[-1]
                for piece in before:
                    if piece.number not in done:
                        done.add(piece.number)
                        earlier = self._step_of(piece)
                        done.update(given.number for given in earlier.gives)
                        stack.append((earlier, iter(self._before(earlier, part))))
                        break
                else:
                    stack.pop()
                    found.append(current)

        wanted = [piece for piece in sorted(
            self._seen_pieces() | set(self._pieces_of(
                      bit for name in self.watched for bit in self.netlist.names[name])),
            key=lambda piece: piece.number) if piece.gate.part == part]
        for gate in self.netlist.gates:
            if gate.part == part and gate.kind in _KEPT:
                pieces = self._pieces[id(gate)]
                for step in ([self._step_of(piece) for piece in pieces]
                             if gate.kind in BITWISE else [self._step_of(pieces[0])]):
                    visit(step)
        for piece in wanted:
            if piece.gate.kind not in _KEPT and piece.number not in done:
                step = self._step_of(piece)
                done.update(given.number for given in step.gives)
                visit(step)
        for port in self._writes():
            if port.memory.part == part:
                visit(_Step([port.address, port.enable, port.data], [], write=port))
        return [step for step in found if not step.write] + [step for step in found if step.write]

    def _before(self, step: _Step, part: str) -> list[Piece]:
        return [piece for bits in step.operands for piece in self._pieces_of(bits)
                if piece.gate.part == part and piece.gate.kind not in _KEPT]

    # Where pieces are.

    def readers(self) -> dict[int, set[str]]:
        """Parts that each piece is read in, by its number."""
        found: dict[int, set[str]] = defaultdict(set)
        for part, steps in self._steps.items():
            for step in steps:
                for bits in step.operands:
                    for piece in self._pieces_of(bits):
                        found[piece.number].add(part)
        return found

    def _functions_of(self, part: str) -> list[list[_Step]]:
        steps = self._steps[part]
        count = max(1, -(-len(steps) // _FUNCTION_STEPS))
        return [steps[len(steps) * index // count:len(steps) * (index + 1) // count]
                for index in range(count)]

    def _place(self) -> None:
        readers, shown = self.readers(), self._seen_pieces()
        looked_at = set(self._pieces_of(
            bit for name in self.watched for bit in self.netlist.names[name]))
        areas: dict[tuple[str, str], list[Piece]] = defaultdict(list)
        for pieces in self._pieces.values():
            gate = pieces[0].gate
            if gate.kind == "input":
                areas["inputs", ""] += pieces
            elif gate.kind in _KEPT:
                areas["state", gate.part] += pieces
        for part in self.parts:
            used: dict[int, set[int]] = defaultdict(set)
            given: dict[int, Piece] = {}
            for index, steps in enumerate(self._functions_of(part)):
                for step in steps:
                    for piece in step.gives:
                        given[piece.number] = piece
                        used[piece.number].add(index)
                    for bits in step.operands:
                        for piece in self._pieces_of(bits):
                            used[piece.number].add(index)
            for number, piece in given.items():
                if piece.gate.kind in _KEPT:
                    continue
                if piece in shown:
                    areas["shown", part] .append(piece)
                elif len(used[number]) > 1 or piece in looked_at:
                    areas["scratch", part].append(piece)
        self.sizes: dict[tuple[str, str], int] = {}
        self.ranges: dict[tuple[str, str], list[tuple[int, int, list[str]]]] = {}
        self.where: dict[int, Place] = {}
        for (area, part), pieces in areas.items():
            outside = {piece.number: sorted(readers[piece.number] - {part}) for piece in pieces}
            pieces.sort(key=lambda piece: (outside[piece.number], -piece.element, piece.number))
            offset = 0
            ranges = self.ranges[area, part] = []
            read_by = [outside[piece.number] for piece in pieces]
            for parts, group in groupby(zip(read_by, pieces, strict=True), itemgetter(0)):
                first = offset = -(-offset // 8) * 8
                for _, piece in group:
                    self.where[piece.number] = Place(area, part, offset)
                    offset += piece.element // 8
                ranges.append((first, offset - first, parts))
            self.sizes[area, part] = -(-offset // 8) * 8

    # C++.

    def address(self, piece: Piece, *, following: bool = False) -> str:
        """C++ of a piece where it is kept; ``following``: in the next cycle."""
        place = self.where[piece.number]
        area = {"state": f"{'next' if following else 'state'}_{place.part}",
                "scratch": f"scratch_{place.part}"}.get(place.area, place.area)
        return f"AT({piece.element}, {area}, {place.offset})"

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

    def __init__(self, code: GroupCode, part: str, steps: Sequence[_Step]) -> None:
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

    def _name(self, piece: Piece) -> str:
        if piece.number not in self._names:
            name = f"v{piece.number}"
            self._lines.append(f"    const u{piece.element} {name} = {self._code.address(piece)};")
            self._names[piece.number] = name
        return self._names[piece.number]

    def _keep(self, expression: str, size: int) -> str:
        if expression not in self._kept:
            name = f"t{len(self._kept)}"
            self._lines.append(f"    const u{size} {name} = {expression};")
            self._kept[expression] = name
        return self._kept[expression]

    def _give(self, step: _Step) -> None:
        piece, gate = step.gives[0], step.gate
        assert gate
        value = gate_code(gate.kind, piece.width, step.operands, self._operands)
        if gate.kind == "register":
            self._lines.append(f"    {self._code.address(piece, following=True)} = {value};")
            return
        self._names[piece.number] = name = f"v{piece.number}"
        self._lines.append(f"    const u{piece.element} {name} = {value};")
        if piece.number in self._code.where:
            self._lines.append(f"    {self._code.address(piece)} = {name};")

    def _read(self, step: _Step) -> None:
        """A port of a memory: every core reads its own."""
        gate = step.gate
        assert gate and gate.memory
        memory = gate.memory.memory
        address = self._operands.vector(step.operands[0], 32)
        lines = [f"    {{ const u32 address = {address};"]
        clocked = gate.kind == "fetch"
        places = []
        for piece in step.gives:
            kind = f"uint{piece.element}_t"
            if clocked:
                place = self._code.address(piece, following=True)
                lines.append(f"    {place} = {self._code.address(piece)};")
                places.append(f"(({kind} *)&{place})[i]")
            else:
                self._lines.append(f"    u{piece.element} v{piece.number} = {{}};")
                places.append(f"(({kind} *)&v{piece.number})[i]")
        if clocked:
            lines.append(f"    const u8 enable = {self._operands.vector(step.operands[1], 8)};")
        lines.append("    for (int i = 0; i < kMembers; i++) {")
        if clocked:
            lines.append("        if (!enable[i]) continue;")
        lines.append(self._word(memory, step.operands[0], "0" if clocked else None, places))
        # Bits of the word that each piece has; what Yosys found unused is in none.
        driven = {bit: index for index, bit in enumerate(gate.memory.data)}
        for piece, place in zip(step.gives, places, strict=True):
            first = driven[gate.bits[piece.first]]
            lines.append(f"        {place} = {_slice(first, piece.width)};")
        lines.append("    } }")
        self._lines += lines
        if not clocked:
            for piece in step.gives:
                self._names[piece.number] = name = f"v{piece.number}"
                if piece.number in self._code.where:
                    self._lines.append(f"    {self._code.address(piece)} = {name};")

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
