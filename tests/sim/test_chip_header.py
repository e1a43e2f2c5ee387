# SPDX-License-Identifier: BSD-2-Clause
"""The header of a chip: what its registers and memories begin with, and which wires it has."""

import random
import re
from types import SimpleNamespace

import pytest

from hypercast.sim.chip_header import _Chip, _thirty_two, _words, link_wires
from hypercast.sim.gates import read_netlist
from hypercast.sim.group_code import GroupCode
from hypercast.sim.partition import REST


def registers(values):
    """A module of Yosys' JSON with registers of some widths, and what they begin with."""
    count = sum(width for width, _ in values)
    inputs, position = list(range(2, count + 2)), 0
    cells, names = {}, {"i": {"bits": inputs, "attributes": {}}}
    for number, (width, value) in enumerate(values):
        kept = list(range(count + 2 + position, count + 2 + position + width))
        cells[f"cell{number}"] = {
            "type": "$dff", "parameters": {},
            "connections": {"CLK": [1], "D": inputs[position:position + width], "Q": kept},
            "port_directions": {"CLK": "input", "D": "input", "Q": "output"}}
        names[f"register{number}"] = {"bits": kept, "attributes": {"init": f"{value:0{width}b}"}}
        position += width
    return {"cells": cells, "netnames": names,
            "ports": {"i": {"direction": "input", "bits": inputs}}}


@pytest.mark.parametrize("seed", range(4))
def test_registers_begin_with_their_first_values(seed):
    """Values that are not zero are written, element by element."""
    rng = random.Random(seed)
    values = [(width, rng.choice((0, 1, rng.getrandbits(width))))
              for width in rng.sample((1, 3, 8, 17, 32, 63, 64, 65, 130), 6)]
    module = registers(values)
    code = GroupCode(read_netlist(module, dict.fromkeys(module["cells"], REST)), [REST])
    text = "\n".join(_Chip._initial(SimpleNamespace(_code=code)))
    written = {(size, offset): int(value, 0) for size, offset, value in re.findall(
        rf"AT\((\d+), state_{REST}, (\d+)\) = ALL\(\1, (\w+?)u?l*\);", text)}
    assert 0 not in written.values() and text.count(" = ALL(") == len(written)
    for number, (_, value) in enumerate(values):
        found = 0
        for index, bit in enumerate(module["netnames"][f"register{number}"]["bits"]):
            limb, place = code.places[bit]
            where = str(limb.element), str(code.where[limb.number].offset)
            found |= (written.get(where, 0) >> place & 1) << index
        assert found == value


@pytest.mark.parametrize(("width", "depth"), [(1, 3), (16, 4), (32, 2), (33, 5), (70, 3)])
def test_memories_begin_with_words_that_are_not_zero(width, depth):
    rng = random.Random(width)
    rows = [rng.choice((0, 1 << width - 1, rng.getrandbits(width))) for _ in range(depth)]
    memory = SimpleNamespace(width=width, depth=depth, initial="".join(
        f"{row:0{width}b}" for row in reversed(rows)))
    chunks, found = -(-width // 32), [0] * depth
    for place, value in _words(memory):
        assert 0 < value < 1 << 32
        found[place // chunks] |= value << 32 * (place % chunks)
    assert found == rows
    assert not [*_words(SimpleNamespace(width=width, depth=depth, initial="x"))]


def test_wires_between_cores_change_one_address_each():
    def wires(other):
        return [((0, "o"), (1, "i")), ((1, "o"), (0, "i")), ((0, "q"), (2, "i")),
                ((3, "q"), other), ((0, "busy"), ("control", "busy__0"))]

    assert link_wires(wires((1, "i"))) == {("o", "i"): 1, ("q", "i"): 2}
    with pytest.raises(AssertionError, match="'q', 'i'"):
        link_wires(wires((2, "i")))


@pytest.mark.parametrize("width", [1, 31, 32, 33, 64, 65])
def test_ports_are_taken_in_parts_of_32_bits(width):
    parts = _thirty_two(list(range(width)))
    assert [bit for part in parts for bit in part] == list(range(width))
    assert [len(part) for part in parts[:-1]] == [32] * ((width - 1) // 32) and parts[-1]
