# SPDX-License-Identifier: BSD-2-Clause
"""C++ of cells, for eight cores at once, against numbers of any width; memories, row by row."""

import ctypes
import random

import numpy as np
import pytest

from hypercast.sim.chip_header import sizes_header
from hypercast.sim.gates import read_netlist
from hypercast.sim.group_code import GroupCode
from hypercast.sim.library_build import Design, build
from hypercast.sim.partition import REST
from tests.system.chips import SLOW_MEMORY

ELEMENTS = 8
#: Bits of the input that cells take slices of.
INPUT = 700
HARNESS = """
#include "group.h"
#include "functions.h"

extern "C" void hypercast_evaluate(char *inputs, char *state, char *next, char *shown,
                                   char *scratch, uint32_t *const *memory) {
    Group group{};
    group.inputs = inputs, group.shown = shown;
    group.state[0] = state, group.next[0] = next, group.scratch[0] = scratch;
    for (size_t i = 0; i < kMemories * kMembers; i++) group.memory[i] = memory[i];
    evaluate(&group);
}
"""
WIDTHS = (1, 2, 7, 8, 9, 16, 17, 31, 32, 33, 48, 63, 64, 65, 100, 130, 257)
NARROW = tuple(width for width in WIDTHS if width <= 64)


class Module:
    """A module of Yosys' JSON whose registers take what cells give of the input ``i``."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.cells, self._next = {}, INPUT + 2
        self.inputs = list(range(2, INPUT + 2))
        self.expected = []  # (register's bits, function of the input's number)

    def fresh(self, width):
        self._next += width
        return list(range(self._next - width, self._next))

    def slice(self, width):
        """Bits of the input in a row, perhaps its sign again and again, perhaps constants."""
        own = self.random.choice((width, max(1, width // 2)))
        first = self.random.randrange(INPUT - own)
        bits = self.inputs[first:first + own]
        if own < width:
            above = self.random.choice(("0", "1", bits[-1], self.inputs[0]))
            bits += [above] * (width - own)
        return bits

    def add(self, kind, inputs, width, value, **parameters):
        """A cell and a register; ``value`` takes the inputs' numbers."""
        output, kept = self.fresh(width), self.fresh(width)
        self.cells[f"cell{len(self.cells)}"] = {
            "type": kind, "parameters": {name: f"{value:032b}" for name, value in
                                         parameters.items()},
            "port_directions": {**dict.fromkeys(inputs, "input"), "Y": "output"},
            "connections": {**inputs, "Y": output}}
        self.register(output, kept)
        self.expected.append((kept, lambda number: value(
            *(self.number(bits, number) for bits in inputs.values())) & (1 << width) - 1))

    def register(self, data, kept):
        self.cells[f"register{len(self.cells)}"] = {
            "type": "$dff", "parameters": {}, "connections": {"CLK": [1], "D": data, "Q": kept},
            "port_directions": {"CLK": "input", "D": "input", "Q": "output"}}

    def number(self, bits, number):
        return sum((bit == "1" if isinstance(bit, str) else number >> bit - 2 & 1) << index
                   for index, bit in enumerate(bits))

    def to_dict(self):
        return {"cells": self.cells, "netnames": {"i": {"bits": self.inputs, "attributes": {}},
                                                  "last": {"bits": [self._next]}},
                "ports": {"i": {"direction": "input", "bits": self.inputs}}}


def signed(number, width):
    return number - (number >> width - 1 << width)


def binary(module, kind, operation, first, second, width, is_signed):
    def value(a, b):
        return int(operation(*((signed(a, first), signed(b, second)) if is_signed else (a, b))))
    module.add(kind, {"A": module.slice(first), "B": module.slice(second)}, width, value,
               A_SIGNED=int(is_signed), B_SIGNED=int(is_signed))


OPERATIONS = {
    "$and": lambda a, b: a & b, "$or": lambda a, b: a | b, "$xor": lambda a, b: a ^ b,
    "$add": lambda a, b: a + b, "$sub": lambda a, b: a - b, "$eq": lambda a, b: a == b,
    "$ne": lambda a, b: a != b, "$lt": lambda a, b: a < b, "$le": lambda a, b: a <= b,
    "$gt": lambda a, b: a > b, "$ge": lambda a, b: a >= b,
}
UNARY = {
    "$not": lambda a, width: ~a, "$neg": lambda a, width: -a, "$pos": lambda a, width: a,
    "$reduce_or": lambda a, width: a != 0, "$reduce_bool": lambda a, width: a != 0,
    "$logic_not": lambda a, width: a == 0,
    "$reduce_xor": lambda a, width: (a & (1 << width) - 1).bit_count() & 1,
    "$reduce_and": lambda a, width: a & (1 << width) - 1 == (1 << width) - 1,
}


def fill(module, share):
    """Cells of all kinds, of each a share, in percent, of so many that all widths occur."""
    choose = module.random.choice
    for kind, operation in OPERATIONS.items():
        for _ in range(25 * share // 100):
            binary(module, kind, operation, choose(WIDTHS), choose(WIDTHS), choose(WIDTHS),
                   choose((False, True)))
    for _ in range(25 * share // 100):
        binary(module, "$mul", lambda a, b: a * b, choose(NARROW), choose(NARROW), choose(NARROW),
               choose((False, True)))
        for kind, operation in (("$logic_and", lambda a, b: bool(a and b)),
                                ("$logic_or", lambda a, b: bool(a or b))):
            binary(module, kind, operation, choose(WIDTHS), choose(WIDTHS), 1, False)
    for kind, operation in UNARY.items():
        for _ in range(20 * share // 100):
            width, is_signed = choose(WIDTHS), choose((False, True))
            module.add(kind, {"A": module.slice(width)}, choose(WIDTHS),
                       lambda a, width=width, is_signed=is_signed, operation=operation: int(
                           operation(signed(a, width) if is_signed else a, width)),
                       A_SIGNED=int(is_signed))
    for _ in range(60 * share // 100):
        shift(module, choose)
    for _ in range(40 * share // 100):
        width, cases = choose(WIDTHS), choose((1, 2, 5))
        inputs = {"A": module.slice(width), "B": module.slice(width * cases)[:width * cases],
                  "S": module.slice(cases)}
        module.add("$mux" if cases == 1 else "$pmux", inputs, width,
                   lambda a, b, s, width=width: b >> width * ((s & -s).bit_length() - 1)
                   if s else a)
    for _ in range(10 * share // 100):
        width, choices = choose(WIDTHS[:10]), choose((1, 2, 3))
        module.add("$bmux", {"A": module.slice(width << choices), "S": module.slice(choices)},
                   width, lambda a, s, width=width: a >> width * s)
    for width in (7, 15, 31, 63):  # which leave a bit of an element that has to stay 0
        for kind in ("$add", "$sub"):
            binary(module, kind, OPERATIONS[kind], width, width, width, False)


def shift(module, choose):
    width, by, result, is_signed = (choose(WIDTHS), choose((1, 3, 5, 6, 9)), choose(WIDTHS),
                                    choose((False, True)))
    kind = choose(("$shl", "$shr", "$sshl", "$sshr", "$shift", "$shiftx"))

    def value(a, b):
        number = signed(a, width) if is_signed else a
        if kind in ("$shl", "$sshl"):
            return number << b
        full = max(width, result)
        return number >> b if kind == "$sshr" else (number & (1 << full) - 1) >> b
    module.add(kind, {"A": module.slice(width), "B": module.slice(by)}, result, value,
               A_SIGNED=int(is_signed), B_SIGNED=0)


class Library:
    """The compiled module, and its areas."""

    def __init__(self, module, folder, watched=()):
        netlist = read_netlist(module, dict.fromkeys(module["cells"], REST))
        self.code = code = GroupCode(netlist, [REST], watched=watched)
        harness = folder / "harness.cpp"
        harness.write_text(HARNESS)

        def convert(target):
            names = code.write(target, "cells")
            (target / "sizes.h").write_text(sizes_header(SLOW_MEMORY, code, ELEMENTS).replace(
                f"kCores = {SLOW_MEMORY.cores}", f"kCores = {ELEMENTS}").replace(
                f"kMembers = {SLOW_MEMORY.cores}", f"kMembers = {ELEMENTS}"))
            functions = code.functions[REST]
            (target / "functions.h").write_text("\n".join([
                *(f"void {name}(Group *);" for name in functions),
                "inline void evaluate(Group *g) {", *(f"{name}(g);" for name in functions), "}"]))
            return names
        self._library = ctypes.CDLL(str(build(Design(
            config=SLOW_MEMORY, harness=harness, convert=convert))))
        self.areas = {}
        for name in ("inputs", "state", "next", "shown", "scratch"):
            size = code.sizes.get(({"next": "state"}.get(name, name),
                                   "" if name == "inputs" else REST), 0)
            self.areas[name] = _aligned(size * ELEMENTS + 64)
        self.memories = [np.zeros((ELEMENTS, memory.depth, -(-memory.width // 32)), np.uint32)
                         for memory in netlist.memories]

    def _limb(self, limb, area):
        size = limb.element // 8
        first = self.code.where[limb.number].offset * ELEMENTS
        return self.areas[area][first:first + size * ELEMENTS].view(f"<u{size}")

    def give(self, bits, numbers):
        """Numbers of all cores for an input."""
        for bit in bits:
            if bit in self.code.places:
                limb, place = self.code.places[bit]
                values = self._limb(limb, "inputs")
                mask = values.dtype.type(1 << place)
                for core, number in enumerate(numbers):
                    if number >> bits.index(bit) & 1:
                        values[core] |= mask
                    else:
                        values[core] &= ~mask

    def value(self, bits, core, area="next"):
        found = 0
        for index, bit in enumerate(bits):
            limb, place = self.code.places[bit]
            found |= (int(self._limb(limb, area)[core]) >> place & 1) << index
        return found

    def evaluate(self):
        pointers = (ctypes.c_void_p * (len(self.memories) * ELEMENTS or 1))(*(
            core.ctypes.data for memory in self.memories for core in memory))
        self._library.hypercast_evaluate(
            *(ctypes.c_void_p(self.areas[name].ctypes.data)
              for name in ("inputs", "state", "next", "shown", "scratch")), pointers)

    def clock(self):
        self.areas["state"][:] = self.areas["next"]


def _aligned(size):
    raw = np.zeros(size + 128, dtype=np.uint8)
    skip = -raw.ctypes.data % 128
    return raw[skip:skip + size]


@pytest.mark.parametrize("share", [30, pytest.param(100, marks=pytest.mark.slow)])
def test_cells(share, tmp_path, monkeypatch):
    monkeypatch.setenv("HYPERCAST_CACHE", str(tmp_path / "cache"))
    module = Module(share)
    fill(module, share)
    library = Library(module.to_dict(), tmp_path)
    kinds = {tuple(cell["connections"]["Y"]): (name, cell) for name, cell in module.cells.items()
             if "Y" in cell["connections"]}
    outputs = list(kinds.values())
    for _ in range(6):
        numbers = [module.random.getrandbits(INPUT) & module.random.choice(
            (-1, module.random.getrandbits(INPUT), 0)) for _ in range(ELEMENTS)]
        library.give(module.inputs, numbers)
        library.evaluate()
        for (kept, value), cell in zip(module.expected, outputs, strict=True):
            for core, number in enumerate(numbers):
                assert library.value(kept, core) == value(number), cell
            for bit in kept:
                limb, _ = library.code.places[bit]
                assert not any(int(element) >> limb.width
                               for element in library._limb(limb, "next")), cell


def memory_cell(width, depth, address, ports, reads):
    """A memory of Yosys' JSON; ``ports`` write it: (address, enable, data); ``reads``: (address,
    enable, data, clocked)."""
    return {
        "type": "$mem_v2",
        "parameters": {
            "MEMID": "\\rows", "SIZE": f"{depth:032b}", "WIDTH": f"{width:032b}",
            "ABITS": f"{address:032b}", "OFFSET": f"{0:032b}", "INIT": "x",
            "RD_PORTS": f"{len(reads):032b}", "WR_PORTS": f"{len(ports):032b}",
            "RD_TRANSPARENCY_MASK": "0", "RD_CLK_ENABLE": "".join(
                str(int(read[3])) for read in reversed(reads))},
        "port_directions": {"RD_DATA": "output"},
        "connections": {
            "RD_ADDR": [bit for read in reads for bit in read[0]],
            "RD_EN": [bit for read in reads for bit in read[1]],
            "RD_DATA": [bit for read in reads for bit in read[2]],
            "RD_SRST": ["0"] * len(reads), "RD_ARST": ["0"] * len(reads),
            "WR_ADDR": [bit for port in ports for bit in port[0]],
            "WR_EN": [bit for port in ports for bit in port[1]],
            "WR_DATA": [bit for port in ports for bit in port[2]]}}


@pytest.mark.parametrize(("width", "depth", "address"), [(70, 5, 3), (16, 8, 3), (257, 4, 2)])
def test_memories(width, depth, address, tmp_path, monkeypatch):
    monkeypatch.setenv("HYPERCAST_CACHE", str(tmp_path / "cache"))
    module, rng = Module(width), random.Random(width)
    take = iter(module.inputs)
    def bits(count): return [next(take) for _ in range(count)]
    half = width // 2
    low, high, whole = bits(1), bits(1), bits(1)
    ports = [(bits(address), low * half + high * (width - half), bits(width)),
             (bits(address), whole * width, bits(width // 2) + ["1"] * (width - width // 2))]
    clocked = bits(address), bits(1), module.fresh(width), True
    direct = bits(address), ["1"], module.fresh(width), False
    module.cells["memory"] = memory_cell(width, depth, address, ports, [clocked, direct])
    kept = module.fresh(width)
    module.register(direct[2], kept)
    library = Library(module.to_dict(), tmp_path)
    rows, shown = np.zeros((ELEMENTS, depth), dtype=object), [0] * ELEMENTS
    for _ in range(60):
        numbers = [rng.getrandbits(INPUT) for _ in range(ELEMENTS)]
        library.give(module.inputs, numbers)
        library.evaluate()
        for core, number in enumerate(numbers):
            def of(found, number=number): return module.number(found, number)
            def row(place, core=core): return rows[core, place] if place < depth else 0
            if of(clocked[1]):
                shown[core] = row(of(clocked[0]))
            assert library.value(clocked[2], core) == shown[core]
            assert library.value(kept, core) == row(of(direct[0]))
            for where, enable, data in ports:
                if of(where) < depth:
                    mask = of(enable)
                    rows[core, of(where)] = rows[core, of(where)] & ~mask | of(data) & mask
        library.clock()


def test_what_is_seen_is_computed_though_no_register_takes_it(tmp_path, monkeypatch):
    """Outputs and watched signals: cells after one another, of which one's is of both kinds."""
    monkeypatch.setenv("HYPERCAST_CACHE", str(tmp_path / "cache"))
    module, width = Module(0), 17
    first, second = module.inputs[:width], module.inputs[200:200 + width]
    names = {}
    for name, kind, ends in (("total", "$add", (first, second)), ("low", "$and", (first, second)),
                             ("shown", "$xor", ("total", first)), ("seen", "$or", ("low", second))):
        names[name] = output = module.fresh(width)
        ends = [names.get(end) if isinstance(end, str) else end for end in ends]
        module.cells[name] = {
            "type": kind, "parameters": {"A_SIGNED": "0", "B_SIGNED": "0"},
            "port_directions": {"A": "input", "B": "input", "Y": "output"},
            "connections": {"A": ends[0], "B": ends[1], "Y": output}}
    found = module.to_dict()
    found["ports"] |= {name: {"direction": "output", "bits": names[name]}
                       for name in ("total", "shown")}
    found["netnames"] |= {name: {"bits": bits} for name, bits in names.items()}
    library = Library(found, tmp_path, watched=["seen"])
    numbers = [module.random.getrandbits(INPUT) for _ in range(ELEMENTS)]
    library.give(module.inputs, numbers)
    library.evaluate()
    for core, number in enumerate(numbers):
        one, other = module.number(first, number), module.number(second, number)
        total = one + other & (1 << width) - 1
        for name, area, value in (("total", "shown", total), ("shown", "shown", total ^ one),
                                  ("seen", "scratch", one & other | other)):
            bits = library.code.netlist.names[name]
            assert library.value(bits, core, area) == value, name


@pytest.mark.parametrize("is_signed", [False, True])
@pytest.mark.parametrize(("kind", "gate"), [
    ("$add", "add"), ("$sub", "sub"), ("$eq", "equal"), ("$ne", "equal"), ("$lt", "less"),
    ("$le", "less"), ("$gt", "less"), ("$ge", "less")])
def test_what_fits_an_element_is_one_gate(kind, gate, is_signed):
    """But for a ``not``; wider numbers have none of it but steps that fit."""
    if gate == "less" and is_signed:
        gate = "signed_less"
    for width in (1, 63, 64, 65, 130):
        module = Module(width)
        binary(module, kind, OPERATIONS[kind], width, width, width, is_signed)
        found = module.to_dict()
        gates = [one for one in read_netlist(found, dict.fromkeys(found["cells"], REST)).gates
                 if one.kind not in ("register", "not")]
        arithmetic = [one for one in gates if one.kind not in ("xor", "any")]
        assert all(len(bits) <= 64 for one in arithmetic for bits in (one.bits, *one.operands))
        assert ([one.kind for one in gates] == [gate]) == (width <= 64)


def test_a_range_has_all_that_the_same_parts_read():
    """And nothing else: what a part reads of an area is copied range by range."""
    module, parts = Module(1), [REST, "a", "b", "c"]
    part_of = {}
    for _ in range(60):
        width = module.random.choice((1, 8, 9, 40, 70))
        source = module.random.choice([module.inputs, *(kept for kept, _ in module.expected)])
        bits = (source * width)[:width]
        output, kept = module.fresh(width), module.fresh(width)
        number = len(module.cells)
        module.cells[f"cell{number}"] = {
            "type": "$not", "parameters": {"A_SIGNED": "0"},
            "port_directions": {"A": "input", "Y": "output"},
            "connections": {"A": bits, "Y": output}}
        module.register(output, kept)
        module.expected.append((kept, None))
        part = module.random.choice(parts)
        part_of |= dict.fromkeys([*module.cells][number:], part)
    code = GroupCode(read_netlist(module.to_dict(), part_of), parts)
    readers, limbs = code.steps.readers(), {limb.number: limb for limb, _ in code.places.values()}
    found = {}
    for number, place in code.where.items():
        found.setdefault((place.area, place.part), []).append(
            (place.offset, limbs[number].element // 8, sorted(readers[number] - {place.part})))
    assert len(found) > len(parts)
    for (area, part), places in found.items():
        ranges, end = code.ranges[area, part], 0
        assert len({tuple(names) for _, _, names in ranges}) == len(ranges)
        for first, size, names in ranges:
            assert first % 8 == 0 and 0 <= first - end < 8
            end = first + size
            inside = sorted(one for one in places if first <= one[0] < end)
            assert all(one[2] == names for one in inside)
            assert sum(one[1] for one in inside) == size
        assert 0 <= code.sizes[area, part] - end < 8 and max(places)[0] < end
