# SPDX-License-Identifier: BSD-2-Clause
"""Slots: what comes in slots ahead, and RAM with an entry for each instance."""

import random

import pytest

from hypercast.rtl.folding.dependencies import FoldingError
from hypercast.rtl.folding.netlist import Netlist
from hypercast.rtl.folding.slots import Slots
from tests.rtl.folding.simulation import Simulation
from tests.rtl.folding.test_netlist import cell

_CORE, _DATA, _ENABLE, _RESET, _STORED = [3, 4, 5], [6, 7, 8], 9, 10, [11, 12, 13]
_PORTS = {"clk": [2], "core": _CORE, "data": _DATA, "enable": [_ENABLE], "reset": [_RESET]}


def build(count, **cells):
    """A module, and the slots of as many instances."""
    ports = {**_PORTS, "core": _CORE[:(count - 1).bit_length()]}
    module = {"ports": {name: {"direction": "input", "bits": bits}
                        for name, bits in ports.items()},
              "netnames": {"stored": {"bits": _STORED, "attributes": {"init": "x01"}},
                           "gates": {"bits": [14, 15, 16, 17], "attributes": {}}},
              "cells": cells}
    slots = Slots(Netlist(module), count, "core")
    return module, slots


def simulation(module):
    """A simulation of the folded module, whose index is no input any longer."""
    module["ports"].pop("core")
    return Simulation(module)


@pytest.mark.parametrize("count", [2, 4, 8])
def test_numbers(count):
    """All counters have the right numbers, also when a restart comes at any time."""
    module, slots = build(count)
    counted = [(ahead, slots.counter(ahead)) for ahead in (2, -1, 0, 2)]
    numbers = [(ahead, slots.number(ahead)) for ahead in range(-1, count + 2)]
    assert slots.number(count) == slots.number(0) == _CORE[:len(slots.number(0))]
    assert slots.number(1) == slots.number(count + 1)
    nets = [tuple(bits) for _, bits in counted]
    assert len({*nets, tuple(slots.number(0))}) == 5  # each has flip-flops of its own
    run, rng, slot = simulation(module), random.Random(count), 0
    for _ in range(60):
        restart = rng.random() < 0.1
        run.begin(restart=restart)
        for ahead, bits in counted + numbers:
            assert run.value(bits) == (slot + ahead) % count
        run.tick()
        slot = 0 if restart else (slot + 1) % count


def test_initial_values():
    _, slots = build(4)
    assert slots.initial([*_STORED, 14]) == "10xx"


def test_constants_and_the_present_are_no_copies():
    module, slots = build(4, gate=cell("$not", {"A": [3]}, {"Y": [14]}))
    before = len(module["cells"])
    assert [slots.early(bit, 2) for bit in "01x"] == list("01x")
    assert slots.early(14, 0) == 14 and len(module["cells"]) == before


@pytest.mark.parametrize("ahead", [1, 2, 3, 5])
def test_copies_are_ahead(ahead):
    """The logic is of the slot's number, and one cell of it has two bits and two users."""
    module, slots = build(
        8, pair=cell("$xor", {"A": [3, 4], "B": [4, 5]}, {"Y": [14, 15]}),
        both=cell("$and", {"A": [14, 3], "B": [15, "1"]}, {"Y": [16, 17]}))
    originals = [14, 15, 16, 17, *_CORE]
    before = len(module["cells"])
    copies = [slots.early(bit, ahead) for bit in originals]
    counters = sum(name.startswith("$slot") for name in module["cells"]) - 2
    assert len(module["cells"]) == before + 2 + counters
    assert [slots.early(bit, ahead) for bit in originals] == copies
    run = simulation(module)
    seen = []
    for _ in range(30):
        run.begin(restart=0)
        seen.append((run.value(originals), run.value(copies)))
        run.tick()
    assert [copied for _, copied in seen[:-ahead]] == [value for value, _ in seen[ahead:]]


@pytest.mark.parametrize("count, ahead, delay", [
    (8, 0, 0), (8, 1, 0), (8, 0, 1), (8, 2, 2), (8, 6, 0), (4, 1, 1), (2, 0, 0)])
@pytest.mark.parametrize("kind", ["ram", "state"])
def test_entries(kind, count, ahead, delay):
    """What was written last for an instance is there in its slot, or ``ahead`` of it."""
    module, slots = build(count, store=cell("$dff", {}, {"Q": _STORED}))
    add = getattr(slots, kind)
    first = {"initial": "110"} if kind == "ram" else {}
    add("entries", _DATA, _STORED, ahead=ahead, delay=delay, enable=_ENABLE, reset=_RESET,
        reset_value="011", **first)
    del module["cells"]["store"]
    run, rng = simulation(module), random.Random(count)
    initial = 0b011 if kind == "ram" else 0b001  # the lowest bit is said first
    entries, resets, slot = [initial] * count, [], 0
    for cycle in range(12 * count):
        inputs = {"data": rng.randrange(8), "enable": rng.randrange(2),
                  "reset": rng.random() < 0.2}
        run.begin(restart=0, **inputs)
        # Of the reset that came when the entry was read.
        waited = ahead + 1 if kind == "state" else 1
        again = len(resets) >= waited and resets[-waited]
        shown = slot if kind == "state" else (slot + ahead) % count
        assert run.value(_STORED) == (0b110 if again else entries[shown]), cycle
        written = (slot - delay) % count
        if inputs["enable"]:
            entries[written] = inputs["data"]
        resets.append(inputs["reset"])
        run.tick()
        slot = (slot + 1) % count


def test_without_conditions_every_slot_writes():
    module, slots = build(4)
    slots.ram("entries", _DATA, _STORED, ahead=1)
    run = simulation(module)
    seen = []
    for cycle in range(8):
        run.begin(restart=0, data=cycle)
        seen.append(run.value(_STORED))
        run.tick()
    assert seen[3:] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("count, ahead, delay", [(8, 7, 0), (8, 5, 2), (2, 1, 0), (4, 1, 2)])
def test_too_few_instances(count, ahead, delay):
    _, slots = build(count)
    with pytest.raises(FoldingError, match=f"{count} instances are too few: entries is needed "
                                           f"{ahead} slots ahead, and written {delay} late"):
        slots.ram("entries", _DATA, _STORED, ahead=ahead, delay=delay)
    if delay:
        slots.ram("entries", _DATA, _STORED, ahead=ahead - 1, delay=delay)
