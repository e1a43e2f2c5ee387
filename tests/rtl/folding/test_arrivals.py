# SPDX-License-Identifier: BSD-2-Clause
"""Arrivals: levels of logic before each net."""

import math

import pytest

from hypercast.rtl.folding.arrivals import Arrivals, logic
from hypercast.rtl.folding.netlist import Netlist
from tests.rtl.folding.test_netlist import cell

WIDTHS = {"A_WIDTH": f"{20:b}", "B_WIDTH": f"{4:b}", "S_WIDTH": f"{8:b}"}


def netlist(kind, **changes):
    """Two inputs, a cell of a kind, a ``$not`` behind it, and a register behind that."""
    module = {
        "ports": {"a": {"direction": "input", "bits": [2, 3]}},
        "netnames": {"n": {"bits": [2, 3, 4, 5, 6, 7], "attributes": {}}},
        "cells": {"one": cell(kind, {"A": [2], "B": [3, "0"]}, {"Y": [4, 5]}, **WIDTHS),
                  "not": cell("$not", {"A": [5]}, {"Y": [6]}, A_WIDTH="1"),
                  "store": cell("$dff", {"D": [6]}, {"Q": [7]}),
                  "note": cell("$scopeinfo", {}, {})}}
    module["cells"].update(changes)
    return Netlist(module)


@pytest.mark.parametrize(("kind", "levels"), [
    ("$mul", 5), ("$add", 2), ("$sub", 2), ("$lt", 2), ("$ge", 2), ("$shl", 2.8), ("$shiftx", 2.8),
    ("$pmux", 2.5), ("$eq", math.log(20, 4)), ("$reduce_or", math.log(20, 4)),
    ("$logic_not", math.log(20, 4)), ("$ne", math.log(20, 4)), ("$and", 0.6), ("$mux", 0.6)])
def test_levels_of_cells(kind, levels):
    arrivals = Arrivals(netlist(kind))
    assert arrivals.of(4) == arrivals.of(5) == pytest.approx(levels)
    assert arrivals.of(6) == pytest.approx(levels + 0.6)
    assert [arrivals.of(bit) for bit in (2, 3, 7, "0", "x")] == [0] * 5


def test_narrow_comparisons_are_half_a_level():
    narrow = cell("$eq", {"A": [2]}, {"Y": [4, 5]}, A_WIDTH="1", B_WIDTH="1")
    assert Arrivals(netlist("$eq", one=narrow)).of(4) == 0.5


@pytest.mark.parametrize(("clocked", "levels"), [("01", (0, 4)), ("10", (4, 0)), ("11", (0, 0))])
def test_memories(clocked, levels):
    """Two read ports of a bit; one that is read at once takes its access."""
    memory = cell("$mem_v2", {"RD_ADDR": [2, 3]}, {"RD_DATA": [4, 5]}, WIDTH="1",
                  RD_CLK_ENABLE=clocked)
    arrivals = Arrivals(netlist("", one=memory))
    assert (arrivals.of(4), arrivals.of(5)) == levels
    assert arrivals.of(6) == levels[1] + 0.6


@pytest.mark.parametrize("clocked", ["001", "010", "100", "110"])
def test_ports_of_a_memory_are_counted_from_the_last_flag(clocked):
    memory = cell("$mem_v2", {"RD_ADDR": [2, 3, "0"]}, {"RD_DATA": [*range(10, 16)]}, WIDTH="10",
                  RD_CLK_ENABLE=clocked)
    arrivals = Arrivals(netlist("$mul", more=memory))
    assert [arrivals.of(bit) for bit in range(10, 16)] == [
        0 if flag == "1" else 4 for flag in reversed(clocked) for _ in range(2)]


def test_the_longest_path_counts():
    late = cell("$add", {"A": [6], "B": [2]}, {"Y": [8]}, A_WIDTH="10100", B_WIDTH="1")
    assert Arrivals(netlist("$mul", late=late)).of(8) == pytest.approx(5 + 0.6 + 2)


def test_logic():
    found = netlist("$mul")
    assert logic(found) == [found.cells["one"], found.cells["not"]]


def test_what_is_known_stays():
    found = netlist("$mul")
    arrivals = Arrivals(found)
    arrivals.of(6)
    del found.cells["one"]
    assert arrivals.of(6) == pytest.approx(5.6)
