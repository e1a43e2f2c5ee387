# SPDX-License-Identifier: BSD-2-Clause
"""Writes the C++ that holds a chip together: sizes, areas, and the wires between its cores."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from hypercast.rtl.config import Config
from hypercast.rtl.control.counters import Increments
from hypercast.rtl.registers import COUNTERS
from hypercast.sim.cxxrtl_names import cxx_name
from hypercast.sim.gates import Bits, GateMemory
from hypercast.sim.group_code import GroupCode
from hypercast.sim.limbs import Limb, LimbRun, runs
from hypercast.sim.vector_code import VectorOperands, literal

__all__ = ["chip_header", "link_wires", "signal_places", "sizes_header"]

#: Wires as ``rtl.chip.wires`` gives them.
Wires: TypeAlias = Iterable[tuple[tuple[int | str, str], tuple[int | str, str]]]


def link_wires(wires: Wires) -> dict[tuple[str, str], int]:
    """(output, input) of each wire between cores, to how the addresses of the two differ."""
    found: dict[tuple[str, str], int] = {}
    for (source, output), (destination, port) in wires:
        if isinstance(source, int) and isinstance(destination, int):
            difference = found.setdefault((output, port), source ^ destination)
            assert difference == source ^ destination, (output, port)
    return found


def sizes_header(config: Config, code: GroupCode, elements: int) -> str:
    """The header ``sizes.h``, which ``group.h`` includes.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    code : GroupCode
        The core's code.
    elements : int
        Elements of a vector. Cores of a small chip do not fill one.
    """
    return "\n".join([
        "#pragma once", "", "#include <cstddef>", "", f"#define kCount {elements}",
        f"constexpr size_t kCores = {config.cores};",
        f"constexpr size_t kMembers = {min(elements, config.cores)};",
        "constexpr size_t kGroups = kCores / kMembers;",
        f"constexpr size_t kParts = {len(code.parts)};",
        f"constexpr size_t kMemories = {len(code.netlist.memories)};", ""])


class _Chip:
    """Lines of ``chip.h``."""

    def __init__(self, config: Config, code: GroupCode, elements: int, wires: Wires) -> None:
        self._config = config
        self._code = code
        self._elements = elements
        wires = list(wires)
        self._links = link_wires(wires)
        self._answers = [port for (source, port), (destination, _) in wires
                         if destination == "control" and source == 0]
        self._orders = [output for (source, output), (destination, _) in wires
                        if source == "control" and destination == 0]
        self._readers = code.steps.readers()
        # Outputs of a core: inputs of its neighbours, then answers for the control unit.
        self._published = code.sizes["inputs", ""]
        # Of each answer, place and bits of elements, for each 32 bits of it.
        self._answer_at: dict[str, list[tuple[int, int]]] = {}
        for port in self._answers:
            self._answer_at[port] = places = []
            for bits in _thirty_two(code.netlist.ports[port][1]):
                size = next(size for size in (8, 16, 32) if len(bits) <= size)
                self._published = -(-self._published // (size // 8)) * (size // 8)
                places.append((self._published, size))
                self._published += size // 8

    def _port(self, name: str) -> list[Limb]:
        """Limbs of an input; bits that nothing reads have no reader."""
        bits = self._code.netlist.ports[name][1]
        return list(dict.fromkeys(self._code.places[bit][0] for bit in bits
                                  if isinstance(bit, int)))

    def _parts_mask(self, parts: Iterable[str]) -> int:
        return sum(1 << self._code.parts.index(part) for part in parts)

    def _mask(self, limb: Limb) -> int:
        return self._parts_mask(self._readers[limb.number])

    def lines(self) -> Iterator[str]:
        yield "#pragma once"
        yield ""
        yield f"constexpr size_t kCounters = {len(COUNTERS)};"
        yield from self._sizes()
        yield from self._functions()
        yield from self._ranges()
        yield from self._initial()
        yield from self._publish()
        yield from self._receive()
        yield from self._orders_and_answers()
        yield from self._counters()
        yield from self._link_inputs()
        yield from self._memories()
        yield from self._signals()

    def _sizes(self) -> Iterator[str]:
        sizes, parts = self._code.sizes, self._code.parts
        for name, area in (("State", "state"), ("Scratch", "scratch")):
            values = ", ".join(str(sizes.get((area, part), 0)) for part in parts)
            yield f"constexpr size_t k{name}Size[kParts] = {{{values}}};"
        yield f"constexpr size_t kInputsSize = {sizes['inputs', '']};"
        yield f"constexpr size_t kShownSize = {sizes.get(('shown', 'rest'), 0)};"
        yield f"constexpr size_t kPublishedSize = {-(-self._published // 8) * 8};"

    def _functions(self) -> Iterator[str]:
        functions = self._code.functions
        for names in functions.values():
            yield from (f"void {name}(Group *);" for name in names)
        yield "inline void evaluate(Group &group, size_t part) {"
        yield "    switch (part) {"
        for index, part in enumerate(self._code.parts):
            calls = " ".join(f"{name}(&group);" for name in functions[part])
            yield f"        case {index}: {calls} break;"
        yield from ["    }", "}", ""]

    def _ranges(self) -> Iterator[str]:
        """Ranges of areas, and the parts that read them; a part itself reads its registers."""
        yield "struct Range { size_t offset, size; uint32_t readers; };"
        yield "const std::vector<Range> kShownRanges = {"
        yield from self._range_lines("shown", "rest", 0)
        yield "};"
        yield "const std::vector<Range> kStateRanges[kParts] = {"
        for index, part in enumerate(self._code.parts):
            yield "    {"
            yield from self._range_lines("state", part, 1 << index)
            yield "    },"
        yield from ["};", ""]

    def _range_lines(self, area: str, part: str, own: int) -> Iterator[str]:
        for offset, size, parts in self._code.ranges.get((area, part), []):
            yield f"    {{{offset}, {size}, {self._parts_mask(parts) | own:#x}}},"

    def _initial(self) -> Iterator[str]:
        """First values of registers and memories, other than zero."""
        yield "inline void begin(Group *g) {"
        yield from self._code.areas()
        values: defaultdict[Limb, int] = defaultdict(int)
        for bit in self._code.netlist.initial:
            if bit in self._code.places:
                limb, place = self._code.places[bit]
                values[limb] |= 1 << place
        for limb, value in values.items():
            if limb.gate.kind == "register":
                yield (f"    {self._code.address(limb)} = "
                       f"ALL({limb.element}, {literal(value)});")
        for index, memory in enumerate(self._code.netlist.memories):
            if words := ", ".join(f"{{{place}, {word:#x}u}}" for place, word in _words(memory)):
                yield from [
                    f"    static const uint32_t words_{index}[][2] = {{{words}}};",
                    f"    for (const auto &word : words_{index})",
                    "        for (size_t i = 0; i < kMembers; i++)",
                    f"            g->memory[{index} * kMembers + i][word[0]] = word[1];"]
        yield from ["}", ""]

    def _operands(self) -> VectorOperands:
        return VectorOperands(self._code.places, self._code.address, lambda text, size: text)

    def _publish(self) -> Iterator[str]:
        """The function that copies a group's outputs: inputs of others, and answers for control."""
        operands, ports = self._operands(), self._code.netlist.ports
        yield "inline void publish(Group *g, char *published) {"
        yield from self._code.areas()
        for output, port in self._links:
            bits, ends = ports[output][1], ports[port][1]
            begin = {bit: index for index, bit in enumerate(ends)}
            for limb in self._port(port):
                first = begin[limb.gate.bits[limb.first]]
                value = operands.vector(bits[first:first + limb.width], limb.element)
                offset = self._code.where[limb.number].offset
                yield f"    AT({limb.element}, published, {offset}) = {value};"
        for port, places in self._answer_at.items():
            for (offset, size), bits in zip(places, _thirty_two(ports[port][1]), strict=True):
                yield f"    AT({size}, published, {offset}) = {operands.vector(bits, size)};"
        yield from ["}", ""]

    def _receive(self) -> Iterator[str]:
        """From the groups that are reached by changing bits of the group's number."""
        members = min(self._elements, self._config.cores)
        yield "template <class From>"
        yield "inline uint32_t receive(Group *g, From from) {"
        yield "    char *const inputs = g->inputs;"
        yield "    uint32_t stale = 0;"
        for (_, port), difference in self._links.items():
            far, near = divmod(difference, members)
            order = ", ".join(str(index ^ near) for index in range(self._elements))
            for limb in self._port(port):
                offset, size = self._code.where[limb.number].offset, limb.element
                value = f"AT({size}, from({far}), {offset})"
                if near:
                    value = f"SHUFFLE({size}, ({value}), {order})"
                yield f"    if (take(AT({size}, inputs, {offset}), {value})) " \
                      f"stale |= {self._mask(limb):#x};"
        yield from ["    return stale;", "}", ""]

    def _orders_and_answers(self) -> Iterator[str]:
        yield "template <class Control>"
        yield "inline uint32_t obey(Group *g, const Control &control) {"
        yield "    char *const inputs = g->inputs;"
        yield "    uint32_t stale = 0;"
        for port in self._orders:
            begin = {bit: index for index, bit in enumerate(self._code.netlist.ports[port][1])}
            for limb in self._port(port):
                offset, size = self._code.where[limb.number].offset, limb.element
                first = begin[limb.gate.bits[limb.first]]
                yield (f"    if (take(AT({size}, inputs, {offset}), ALL({size}, bits("
                       f"control.{cxx_name(port)}.curr, {first}, {limb.width})))) "
                       f"stale |= {self._mask(limb):#x};")
        yield from ["    return stale;", "}", ""]
        yield "template <class Control>"
        yield "inline void answer(Control &control, size_t core, const char *published) {"
        yield "    const size_t i = core % kMembers;"
        yield "    switch (core) {"
        for core in range(self._config.cores):
            yield f"        case {core}:"
            for port in self._answers:
                width = len(self._code.netlist.ports[port][1])
                values = ", ".join(f"uint32_t(AT({size}, published, {offset})[i])"
                                   for offset, size in self._answer_at[port])
                yield (f"            control.take(control.module.{cxx_name(f'{port}__{core}')}, "
                       f"cxxrtl::value<{width}>{{{values}}});")
            yield "            break;"
        yield from ["    }", "}", ""]
        yield "inline void set_reset(Group *g, bool active) {"
        yield "    char *const inputs = g->inputs;"
        for limb in self._port("rst"):
            offset = self._code.where[limb.number].offset
            yield f"    AT({limb.element}, inputs, {offset}) = ALL({limb.element}, active);"
        yield from ["}", ""]
        yield "inline void set_address(Group *g, size_t member, size_t core) {"
        yield "    char *const inputs = g->inputs;"
        for limb in self._port("core"):
            offset = self._code.where[limb.number].offset
            yield f"    AT({limb.element}, inputs, {offset})[member] = core;"
        yield from ["}", ""]
        [(offset, size)] = self._answer_at["busy"]
        yield "inline uint32_t busy(const char *published, size_t member) {"
        yield from [f"    return AT({size}, published, {offset})[member];", "}", ""]

    def _counters(self) -> Iterator[str]:
        """Registers with the lower bits of a core's counters: place, width, and where they are."""
        yield "template <class Visit> void visit_counters(Group *g, Visit visit) {"
        yield from self._code.areas()
        places = {name: index for index, name in enumerate(COUNTERS)}
        for name in Increments(self._config).members:
            bits = self._code.netlist.names[f"counters.{name}_low"]
            limbs = {self._code.places[bit][0] for bit in bits if bit in self._code.places}
            assert len(limbs) == 1, name
            limb = limbs.pop()
            assert limb.width == len(bits) and limb.gate.kind == "register", name
            yield f"    visit({places[name]}, {limb.width}, {self._code.address(limb)});"
        yield from ["}", ""]

    def _link_inputs(self) -> Iterator[str]:
        """Inputs of a core at a link, for fault injection."""
        yield "template <class Visit> void visit_link(Group *g, size_t dimension, Visit visit) {"
        yield "    char *const inputs = g->inputs;"
        yield "    switch (dimension) {"
        for dimension in range(self._config.dimensions):
            yield f"        case {dimension}:"
            for kind, port in (("kValid", f"incoming__{dimension}__valid"),
                               ("kFlit", f"incoming__{dimension}__flit"),
                               ("kCredit", f"outgoing__{dimension}__credit")):
                begin = {bit: index
                         for index, bit in enumerate(self._code.netlist.ports[port][1])}
                for limb in self._port(port):
                    where = self._code.where[limb.number]
                    first = begin[limb.gate.bits[limb.first]]
                    yield (f"            visit({kind}, {first}, {limb.width}, "
                           f"AT({limb.element}, inputs, {where.offset}), "
                           f"{self._mask(limb):#x});")
            yield "            break;"
        yield from ["    }", "}", ""]

    def _memories(self) -> Iterator[str]:
        yield "struct MemoryShape { const char *name; size_t width, depth; };"
        yield "const MemoryShape kMemoryShapes[kMemories] = {"
        for memory in self._code.netlist.memories:
            name = memory.name.replace(".", " ")
            yield f'    {{"{name}", {memory.width}, {memory.depth}}},'
        yield from ["};", ""]


    def _signals(self) -> Iterator[str]:
        """A JSON text in C++: where signals are that can be looked at, see ``signal_places``."""
        text = json.dumps(signal_places(self._code), separators=(",", ":"))
        texts = (text[first:first + 10_000] for first in range(0, len(text), 10_000))
        yield "inline const char *signals() {"
        yield "    return"
        yield from (f'        R"signals({one})signals"' for one in texts)
        yield from ["        ;", "}", ""]


def signal_places(code: GroupCode) -> dict[str, list[list[int]]]:
    """Where in a sample of a group each signal is that is watched.

    Returns
    -------
    dict
        Name of each signal to a list of runs, lowest bits first: offset of the limb (in bytes of
        a core), bits of its elements, first bit, number of bits, and whether it is one bit again
        and again.
        A constant has offset -1, and its value instead of a first bit.
    """
    begins, offset = {}, 0
    areas = [("inputs", ""), ("shown", "rest"),
             *((area, part) for part in code.parts for area in ("state", "scratch"))]
    for area in areas:
        begins[area] = offset
        offset += code.sizes.get(area, 0)

    def place(run: LimbRun) -> list[int]:
        if run.limb is None:
            return [-1, 8, run.first, run.width, 0]
        where = code.where[run.limb.number]
        return [begins[where.area, where.part] + where.offset, run.limb.element, run.first,
                run.width, int(run.repeated)]

    return {name: [place(run) for run in runs(code.netlist.names[name], code.places)]
            for name in code.watched}


def _thirty_two(bits: Bits) -> list[Bits]:
    """The bits of a port in parts of 32, lowest first; the last part may have fewer."""
    return [bits[first:first + 32] for first in range(0, len(bits), 32)]


def _words(memory: GateMemory) -> Iterator[tuple[int, int]]:
    """(place, value) of the 32-bit parts of a memory's initial contents that are not zero."""
    if "1" not in memory.initial:
        return
    chunks = -(-memory.width // 32)
    bits = memory.initial[::-1]
    for row in range(len(bits) // memory.width):
        word = bits[row * memory.width:(row + 1) * memory.width]
        for chunk in range(chunks):
            value = sum(1 << index for index, bit in enumerate(word[32 * chunk:32 * chunk + 32])
                        if bit == "1")
            if value:
                yield row * chunks + chunk, value


def chip_header(config: Config, code: GroupCode, elements: int, wires: Wires) -> str:
    """The header ``chip.h``, which ``chip_harness.cpp`` includes.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    code : GroupCode
        The core's code.
    elements : int
        Elements of a vector.
    wires : list
        Wires between the cores and the control unit, as ``rtl.chip.wires`` gives them.
    """
    return "\n".join(_Chip(config, code, elements, wires).lines())
