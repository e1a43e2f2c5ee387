# SPDX-License-Identifier: BSD-2-Clause
"""Dependencies: what must be known early, and what is the same in all instances."""

import random

import pytest

from hypercast.rtl.folding.dependencies import (
    FoldingError,
    lookahead,
    read_ports,
    shared_registers,
)
from hypercast.rtl.folding.netlist import Netlist
from hypercast.rtl.folding.netlist_registers import registers
from tests.rtl.folding.test_netlist import cell


def memory(addresses, data, clocked, enables=None):
    """A memory whose read ports have addresses of one bit each; the last port's flag is first."""
    ports = len(addresses)
    return cell("$mem_v2", {"RD_ADDR": addresses, "RD_EN": enables or ["1"] * ports},
                {"RD_DATA": data}, ABITS="1", WIDTH=f"{len(data) // ports:b}",
                RD_PORTS=f"{ports:b}", RD_CLK_ENABLE=clocked)


def netlist(cells, **inputs):
    """Inputs of a bit."""
    return Netlist({"ports": {name: {"direction": "input", "bits": [bit]}
                              for name, bit in inputs.items()},
                    "netnames": {}, "cells": cells})


def test_read_ports():
    wide = memory([2, 3, 4, 5, 6, 7], list(range(10, 19)), "101", [20, "1", 21])
    wide["parameters"].update(ABITS="10", RD_PORTS="11", WIDTH="11")
    found = read_ports("table", wide)
    assert [(port.key, port.synchronous, port.address, port.data, port.enable)
            for port in found] == [
        (("table", 0), True, [2, 3], [10, 11, 12], 20),
        (("table", 1), False, [4, 5], [13, 14, 15], "1"),
        (("table", 2), True, [6, 7], [16, 17, 18], 21)]


@pytest.mark.parametrize("seed", range(60))
def test_lookahead(seed):
    """As many slots as there are memories, read at once, on the longest way to an address."""
    rng = random.Random(seed)
    core, nets = 2, iter(range(3, 1000))
    roots = {("index", 0): core}  # what may be asked for, and its net
    cells, asked, at_once = {}, {}, []
    for number in range(rng.randrange(1, 4)):
        net = next(nets)
        roots[f"register{number}"] = net
        cells[f"register{number}"] = cell("$dff", {"CLK": ["0"], "D": [core]}, {"Q": [net]})
    for number in range(rng.randrange(1, 7)):
        ports = rng.randrange(1, 4)
        clocked = "".join(rng.choice("001") for _ in range(ports))
        known, addresses = dict(roots), []
        for port in range(ports):
            names = rng.sample(sorted(known, key=str), rng.randrange(1, 3) if len(known) > 1 else 1)
            net = known[names[0]]
            for place, name in enumerate(names[1:]):
                gate = next(nets)
                cells[f"gate{number}_{port}_{place}"] = cell(
                    "$xor", {"A": [net], "B": [known[name]]}, {"Y": [gate]})
                net = gate
            addresses.append(net)
            key = f"memory{number}", port
            asked[key] = names
            if clocked[-1 - port] == "0":
                at_once.append(key)
        data = [next(nets) for _ in range(2 * ports)]
        cells[f"memory{number}"] = memory(addresses, data, clocked)
        roots.update({(f"memory{number}", port): data[2 * port + rng.randrange(2)]
                      for port in range(ports)})

    expected = dict.fromkeys(roots, 0)
    for key in reversed(at_once):  # readers first
        for name in asked[key]:
            expected[name] = max(expected[name], expected[key] + 1)
    order = list(cells)
    rng.shuffle(order)
    found = lookahead(netlist({name: cells[name] for name in order}, core=core), "core")
    assert {name: found[name] for name in roots if name != ("index", 0)} == {
        name: slots for name, slots in expected.items() if name != ("index", 0)}
    assert found["anything else"] == 0


@pytest.mark.parametrize("clocked, refused", [("0", True), ("1", False)])
def test_inputs_are_not_known_early(clocked, refused):
    cells = {"inverter": cell("$not", {"A": [3]}, {"Y": [4]}),
             "table": memory([4], [5], clocked)}
    found = netlist(cells, core=2, own=3)
    if refused:
        with pytest.raises(FoldingError, match="memory table is read at once where input own says"):
            lookahead(found, "core")
    else:
        assert not any(lookahead(found, "core").values())
    assert not any(lookahead(found, "own").values())


def test_a_memory_on_the_way_needs_its_inputs_early_as_well():
    cells = {"first": memory([2], [4], "0"), "second": memory([4], [5], "0")}
    with pytest.raises(FoldingError, match="memory first is read at once where input own says"):
        lookahead(netlist(cells, own=2, core=3), "core")


@pytest.mark.parametrize("seed", range(60))
def test_shared_registers(seed):
    """All but those that something of an instance's own reaches, however far away."""
    rng = random.Random(seed)
    count = rng.randrange(3, 14)
    inputs = {"common": 2, "own": 3}
    outputs = {f"register{number}": 4 + number for number in range(count)}
    stored = {"table": 4 + count}
    nets, users, cells = {**inputs, **outputs, **stored}, {}, {}
    free = iter(range(5 + count, 1000))
    cells["table"] = memory([2], [stored["table"]], "1")
    for name, output in outputs.items():
        data, control = (rng.choice([*outputs, *outputs, "common", *rng.choice(
            [[], ["own"], ["table"]])]) for _ in range(2))
        users[name] = {data, control}
        inverted = next(free)
        cells[f"{name}_inverter"] = cell("$not", {"A": [nets[data]]}, {"Y": [inverted]})
        cells[name] = cell("$dffe", {"CLK": ["0"], "D": [inverted], "EN": [nets[control]]},
                           {"Q": [output]}, EN_POLARITY="1")
    private = set(rng.sample(sorted(outputs), rng.randrange(2)))
    reached, size = {"own", "table", *private}, -1
    while size != len(reached):
        size = len(reached)
        reached |= {name for name, used in users.items() if used & reached}
    found = netlist(cells, **inputs)
    assert shared_registers(found, registers(found), {"common"}, private) == set(outputs) - reached
