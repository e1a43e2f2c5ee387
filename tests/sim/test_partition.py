# SPDX-License-Identifier: BSD-2-Clause
"""Parts of a netlist: blocks keep what only registers show of them; wires join whole ports."""

import pytest

from hypercast.rtl.chip import CORE_MODULE
from hypercast.rtl.config import PRESETS
from hypercast.rtl.export.chip_conversion import parts_to_rtlil
from hypercast.sim.chip_build import blocks
from hypercast.sim.cxxrtl_convert import flatten
from hypercast.sim.partition import REST, split


def cell(kind, inputs, outputs, **parameters):
    """A cell with one input and one output port."""
    return {"type": kind, "parameters": parameters,
            "port_directions": {"A": "input", "Y": "output"},
            "connections": {"A": inputs, "Y": outputs}}


def memory(inputs, outputs, *, clocked):
    return cell("$mem_v2", inputs, outputs, RD_CLK_ENABLE="1" if clocked else "0")


def port(direction, *bits):
    return {"direction": direction, "bits": list(bits)}


#: Blocks a and b; bits 1 and 2 come from outside.
CELLS = {
    "$flatten\\a.$inner": cell("$not", [1], [10]),
    "$flatten\\a.$register": cell("$dff", [10], [11]),
    "$flatten\\a.$valid": cell("$not", [11], [12]),  # b's gate sees it
    "$flatten\\a.\\deep.$ready": cell("$and", [21, 11], [13]),  # the output sees it
    "$flatten\\a.\\deep.$before": cell("$not", [2], [21]),  # ... and this, through it
    "$flatten\\b.$gate": cell("$and", [12, "1"], [14]),
    "b.register": cell("$dff", [14], [15]),
    "b.clocked": memory([15], [16], clocked=True),
    "b.direct": memory([16], [17], clocked=False),  # the output sees it
    "$outer": cell("$not", [16], [18]),
    "bb.gate": cell("$not", [18], [19]),
}
MODULE = {"cells": CELLS, "ports": {
    "i": port("input", 1, 2), "o": port("output", 13, 15, 17), "p": port("output", 19)}}


def test_blocks_keep_what_is_seen_through_registers():
    parts = split(MODULE, ["a", "b"])
    assert parts == {
        "a": ["$flatten\\a.$inner", "$flatten\\a.$register"],
        "b": ["$flatten\\b.$gate", "b.register", "b.clocked"],
        REST: ["$flatten\\a.$valid", "$flatten\\a.\\deep.$ready", "$flatten\\a.\\deep.$before",
               "b.direct", "$outer", "bb.gate"],
    }


def test_a_block_inside_a_block():
    assert split(MODULE, ["a.deep"]) == {"a_deep": [], REST: list(CELLS)}


def test_unknown_blocks_are_refused():
    with pytest.raises(ValueError, match="no block c, d"):
        split(MODULE, ["d", "a", "c"])


@pytest.mark.parametrize("name", ["tiny", pytest.param("test", marks=pytest.mark.slow)])
def test_parts_of_a_core_show_registers_only(name, tmp_path):
    config = PRESETS[name]
    module = flatten(
        {CORE_MODULE: parts_to_rtlil(config)[CORE_MODULE]}, tmp_path)[CORE_MODULE]
    parts = split(module, blocks(config))
    part_of = {cell: part for part, cells in parts.items() for cell in cells}
    assert part_of.keys() == module["cells"].keys()
    driver = {}
    for name, value in module["cells"].items():
        for end, bits in value["connections"].items():
            if value["port_directions"][end] == "output":
                driver.update(dict.fromkeys(bits, name))
    crossing = {
        driver[bit] for name, value in module["cells"].items()
        for end, bits in value["connections"].items() if value["port_directions"][end] == "input"
        for bit in bits if bit in driver and part_of[driver[bit]] not in (REST, part_of[name])}
    assert crossing
    kinds = {module["cells"][name]["type"] for name in crossing}
    assert kinds <= {"$dff", "$mem_v2"}
    sizes = {part: len(cells) for part, cells in parts.items()}
    assert sizes[REST] < sum(sizes.values()) / 2
