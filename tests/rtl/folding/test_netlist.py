# SPDX-License-Identifier: BSD-2-Clause
"""Netlists as Yosys writes them: who drives what, what depends on what, and what is added."""

import pytest

from hypercast.rtl.folding.netlist import Netlist, number


def cell(kind, inputs, outputs, **parameters):
    return {"type": kind, "parameters": parameters, "connections": {**inputs, **outputs},
            "port_directions": {**dict.fromkeys(inputs, "input"),
                                **dict.fromkeys(outputs, "output")}}


@pytest.fixture
def netlist():
    """Two bits ``a``, inverted and stored; ``y`` is what is stored and a constant."""
    names = {"clk": [2], "a": [3, 4], "inverted": [5, 6], "q": [7, 8], "y": [7, 9, "1"]}
    return Netlist({
        "ports": {"clk": {"direction": "input", "bits": [2]},
                  "a": {"direction": "input", "bits": [3, 4]},
                  "y": {"direction": "output", "bits": [7, 9, "1"]}},
        "netnames": {name: {"bits": bits, "attributes": {"init": "x1"} if name == "q" else {}}
                     for name, bits in names.items()},
        "cells": {"not": cell("$not", {"A": [3, 4]}, {"Y": [5, 6]}),
                  "store": cell("$dff", {"CLK": [2], "D": [5, 6]}, {"Q": [7, 8]}),
                  "and": cell("$and", {"A": [8, "0"], "B": [5, 4]}, {"Y": [9]})}})


def test_drivers(netlist):
    assert netlist.drivers == {5: ("not", "Y", 0), 6: ("not", "Y", 1), 7: ("store", "Q", 0),
                               8: ("store", "Q", 1), 9: ("and", "Y", 0)}
    assert netlist.inputs == {2: ("clk", 0), 3: ("a", 0), 4: ("a", 1)}


def test_nets_are_new(netlist):
    assert netlist.nets(2) == [10, 11] and netlist.nets(1) == [12]
    assert Netlist({"cells": {}, "ports": {}, "netnames": {"c": {"bits": ["0"]}}}).nets(1) == [2]


@pytest.mark.parametrize(("bits", "sources"), [
    ([7], {("store", "Q", 0)}), ([5], {("a", None, 0), ("a", None, 1)}), (["1", "x"], set()),
    ([9], {("store", "Q", 1), ("a", None, 0), ("a", None, 1)}), ([2, 8], {("clk", None, 0),
                                                                          ("store", "Q", 1)})])
def test_sources(netlist, bits, sources):
    assert netlist.sources(bits) == sources


def test_a_memory_ends_the_search(netlist):
    netlist.add("memory", "$mem_v2", {"RD_ADDR": [3], "RD_DATA": [20, 21]})
    assert netlist.sources([21]) == {("memory", "RD_DATA", 1)}


def test_cells_that_are_added(netlist):
    netlist.add("more", "$or", {"A": [3], "Y": [20, 7]}, WIDTH=5, TEXT="ab")
    added = netlist.cells["more"]
    assert added["port_directions"] == {"A": "input", "Y": "output"}
    assert added["parameters"] == {"WIDTH": "00000000000000000000000000000101", "TEXT": "ab"}
    assert number(added["parameters"]["WIDTH"]) == 5 and added["hide_name"] == 1
    assert netlist.drivers[20] == ("more", "Y", 0)
    assert netlist.drivers[7] == ("store", "Q", 0)  # that cell is about to go


def test_gates(netlist):
    output = netlist.gate("$eq", A=[3, 4], B=["0"])
    added = netlist.cells[f"$eq${output}"]
    assert output == 10 and added["type"] == "$eq"
    assert added["connections"] == {"A": [3, 4], "B": ["0"], "Y": [10]}
    assert {name: number(value) for name, value in added["parameters"].items()} == {
        "A_SIGNED": 0, "A_WIDTH": 2, "B_SIGNED": 0, "B_WIDTH": 1, "Y_WIDTH": 1}


@pytest.mark.parametrize(("enable", "kind"), [(None, "$dff"), (4, "$dffe")])
def test_flip_flops(netlist, enable, kind):
    netlist.flip_flops("more", [5, 6], [20, 21], initial="01", enable=enable)
    added = netlist.cells["more"]
    assert added["type"] == kind and number(added["parameters"]["WIDTH"]) == 2
    assert added["parameters"]["CLK_POLARITY"] == "1"
    assert added["connections"] == {"CLK": [2], "D": [5, 6], "Q": [20, 21],
                                    **({"EN": [4]} if enable else {})}
    assert added["parameters"].get("EN_POLARITY") == ("1" if enable else None)
    assert netlist.take_initial_values() == {20: "0", 21: "1", 7: "1"}


@pytest.mark.parametrize("keep", [False, True])
def test_flip_flops_that_are_kept(netlist, keep):
    netlist.flip_flops("more", [5], [20], keep=keep)
    assert netlist.cells["more"]["attributes"] == ({"keep": f"{1:032b}"} if keep else {})


def test_initial_values_are_taken_once(netlist):
    assert netlist.take_initial_values() == {7: "1"}
    assert netlist.take_initial_values() == {}
    netlist.set_initial_values([7, 8], "10")
    assert netlist.take_initial_values() == {7: "1", 8: "0"}


def test_ports_that_are_added(netlist):
    netlist.add_port("more", "output", [9])
    assert netlist.ports["more"] == {"direction": "output", "bits": [9]}
    netlist.add_port("b", "output", [99])
    assert Netlist({"cells": {}, "ports": {}, "netnames": netlist._names}).nets(1) == [100]
