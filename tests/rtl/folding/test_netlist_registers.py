# SPDX-License-Identifier: BSD-2-Clause
"""Registers of a netlist: what they hold next, with and without controls."""

import random

import pytest

from hypercast.rtl.folding.netlist import Netlist
from hypercast.rtl.folding.netlist_registers import (
    KINDS,
    NetlistRegister,
    registers,
    remove_controls,
)
from tests.rtl.folding.simulation import Simulation
from tests.rtl.folding.test_netlist import cell

_ENABLE, _RESET, _DATA, _OUTPUT = 3, 4, [5, 6, "1"], [7, 8, 9]
#: Of ``$sdff``, the highest bit first.
_VALUE = "011"


def module(kind, enable="1", reset="1", controls=(_ENABLE, _RESET)):
    """One register of a kind, whose controls are active with these levels."""
    inputs, parameters = {"CLK": [2], "D": _DATA}, {"CLK_POLARITY": "1"}
    enabled, resettable = KINDS[kind]
    if enabled:
        inputs["EN"], parameters["EN_POLARITY"] = [controls[0]], enable
    if resettable:
        inputs["SRST"], parameters["SRST_POLARITY"] = [controls[1]], reset
        parameters["SRST_VALUE"] = _VALUE
    ports = {"clk": [2], "enable": [_ENABLE], "reset": [_RESET], "data": _DATA[:2]}
    return {"ports": {name: {"direction": "input", "bits": bits} for name, bits in ports.items()},
            "netnames": {"q": {"bits": _OUTPUT, "attributes": {"init": "101"}},
                         "inverted": {"bits": [10, 11], "attributes": {}}},
            "cells": {"store": cell(kind, inputs, {"Q": _OUTPUT}, **parameters),
                      "other": cell("$not", {"A": [5]}, {"Y": [10]})}}


def following(simulation, register):
    """What a register holds next, by what is known of it."""
    if simulation.value([register.reset]):
        return int(register.reset_value[::-1], 2)
    return simulation.value(register.data if simulation.value([register.enable])
                            else register.held)


@pytest.mark.parametrize("width", [1, 32])
@pytest.mark.parametrize("controls", [(_ENABLE, _RESET), ("1", "0"), ("0", "0"), ("1", _RESET),
                                      (_ENABLE, "1")])
@pytest.mark.parametrize("levels", ["00", "01", "10", "11"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_next(kind, levels, controls, width):
    """As the cell itself, and the same when it is data alone; Yosys writes levels in two widths."""
    whole = module(kind, *(level.zfill(width) for level in levels), controls=controls)
    netlist = Netlist(whole)
    found = registers(netlist)
    assert list(found) == ["store"]
    register = found["store"]
    assert (register.name, register.output, register.late) == ("store", _OUTPUT, False)
    alone = remove_controls(netlist, register)
    assert (alone.enable, alone.reset, alone.reset_value) == ("1", "0", "")
    assert (alone.output, alone.held, alone.late) == (_OUTPUT, _OUTPUT, False)
    simulation, rng, held = Simulation(whole), random.Random(levels), 5
    for _ in range(40):
        simulation.begin(enable=rng.randrange(2), reset=rng.randrange(2), data=rng.randrange(4))
        assert simulation.value(_OUTPUT) == held
        held = following(simulation, register)
        assert simulation.value(alone.data) == held
        simulation.tick()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_there_is_constant(kind):
    enabled, resettable = KINDS[kind]
    register = registers(Netlist(module(kind)))["store"]
    assert (register.enable, register.reset) == (_ENABLE if enabled else "1",
                                                 _RESET if resettable else "0")
    assert register.reset_value == (_VALUE[::-1] if resettable else "")
    assert register.inputs == [*_DATA, register.enable, register.reset]


@pytest.mark.parametrize(("enable", "data"), [("1", _DATA), ("0", _OUTPUT)])
def test_constant_controls_take_no_logic(enable, data):
    whole = module("$sdffe", controls=(enable, "0"))
    netlist = Netlist(whole)
    register = registers(netlist)["store"]
    assert (register.enable, register.reset) == (enable, "0")
    assert remove_controls(netlist, register).data == data and len(whole["cells"]) == 2


def test_a_constant_reset_leaves_its_value():
    netlist = Netlist(module("$sdff", controls=("1", "1")))
    assert remove_controls(netlist, registers(netlist)["store"]).data == list(_VALUE[::-1])


def test_one_inverter_serves_all():
    whole = module("$sdffe", "0", "0", controls=(_ENABLE, _ENABLE))
    whole["cells"]["more"] = cell("$dffe", {"CLK": [2], "D": [5], "EN": [_ENABLE]}, {"Q": [11]},
                                  EN_POLARITY="0")
    found = registers(Netlist(whole))
    assert found["store"].enable == found["store"].reset == found["more"].enable != _ENABLE
    assert sum(one["type"] == "$not" for one in whole["cells"].values()) == 2


def test_what_is_held_may_have_other_nets():
    """As in the second stage, when outputs are another instance's already."""
    whole = module("$dff")
    netlist = Netlist(whole)
    register = NetlistRegister(name="store", data=_DATA, output=_OUTPUT, enable=_ENABLE, reset="0",
                               reset_value="", held=[_RESET, _RESET, "1"], late=True)
    alone = remove_controls(netlist, register)
    simulation = Simulation(whole)
    for enable, data, expected in [(1, 2, 0b110), (1, 1, 0b101), (0, 1, 0b111)]:
        simulation.begin(enable=enable, data=data, reset=1)
        assert simulation.value(alone.data) == expected and alone.late
