# SPDX-License-Identifier: BSD-2-Clause
"""What cannot be paced, and runs of what can: any run of one module is proved."""

import copy
import random

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hypercast.proofs.folding.pace import PROOFS, PacedExample
from hypercast.proofs.solver import prove
from hypercast.rtl.folding import pace as pace_module
from hypercast.rtl.folding.arrivals import Arrivals
from hypercast.rtl.folding.dependencies import FoldingError
from hypercast.rtl.folding.flat import convert_changed
from hypercast.rtl.folding.netlist import Netlist
from hypercast.rtl.folding.pace import pace
from tests.rtl.folding.drawing import INPUTS, RESET_CYCLES, Drawing
from tests.rtl.folding.runs import driven
from tests.rtl.folding.simulation import Simulation
from tests.rtl.folding.test_netlist import cell

_SLOTS = 8


@pytest.mark.parametrize("seed", range(24))
def test_random_modules(seed, monkeypatch):
    """The module itself in the last slot, whatever the inputs are before."""
    monkeypatch.setattr(pace_module, "_LEVELS", (1.5, 2, 4)[seed % 3])
    rng = random.Random(seed)
    module = Drawing(seed, known=False).module
    whole = Simulation(copy.deepcopy(module))
    pace(module, slots=_SLOTS)
    paced = Simulation(module)
    for cycle in range(RESET_CYCLES + 15):
        for slot in range(_SLOTS):
            last = slot == _SLOTS - 1
            inputs = {name: rng.randrange(1 << width) for name, width in INPUTS.items()}
            inputs["rst"] = cycle < RESET_CYCLES or rng.random() < 0.1
            now = paced.step(**inputs, enable=last)
            if cycle >= RESET_CYCLES:
                whole.begin()
                assert now == whole.outputs()
        whole.step(**inputs)


@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: proof.size)
def test_a_run(proof, tmp_path):
    prove(driven(proof.bench()), tmp_path, cycles=32)


@pytest.mark.parametrize("levels", [20, 2, 1])
def test_long_paths_are_cut(levels, monkeypatch):
    monkeypatch.setattr(pace_module, "_LEVELS", levels)
    paced = convert_changed(PacedExample(), "paced", lambda module: pace(module, slots=8))
    assert ("$cut" in paced) == (levels < 20)


def chain(length):
    """A register, as many inverters, and another register, which is the output."""
    nets = list(range(3, 4 + length))
    output = nets[-1] + 1
    return {
        "ports": {"clk": {"direction": "input", "bits": [2]},
                  "o": {"direction": "output", "bits": [output]}},
        "netnames": {"o": {"bits": [output], "attributes": {}}},
        "cells": {"first": cell("$dff", {"CLK": [2], "D": [output]}, {"Q": [3]}),
                  "last": cell("$dff", {"CLK": [2], "D": nets[-1:]}, {"Q": [output]}),
                  **{f"not{net}": cell("$not", {"A": [net]}, {"Y": [net + 1]}, A_WIDTH="1")
                     for net in nets[:-1]}}}


def longest(module):
    """Most levels before a flip-flop."""
    netlist = Netlist(module)
    arrivals = Arrivals(netlist)
    return max(arrivals.of(bit) for one in module["cells"].values()
               for bit in one["connections"].get("D", []))


def test_paths_have_few_levels_between_flip_flops():
    module = chain(60)
    assert longest(module) == pytest.approx(36)
    pace(module, slots=8)
    assert 5 - 0.6 < longest(module) < 5 + 0.6


def test_as_many_slots_as_stages():
    """34 inverters are 20.4 levels: four stages of five, and a little more."""
    pace(chain(34), slots=5)
    with pytest.raises(FoldingError, match="4 slots are too few for the longest path"):
        pace(chain(34), slots=4)


class Unregistered(wiring.Component):
    """A component whose output is no register."""

    x: In(1)
    o: Out(1)
    registered: Out(1)

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.o.eq(self.registered & ~self.x)
        m.d.sync += self.registered.eq(self.x)
        return m


class Computed(wiring.Component):
    """Reads a memory at once where a sum says."""

    x: In(8)
    o: Out(1)

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = Memory(shape=1, depth=256, init=[])
        read, write, count = memory.read_port(domain="comb"), memory.write_port(), Signal(8)
        m.d.comb += [read.addr.eq(count + 3), write.data.eq(self.x), write.en.eq(1)]
        m.d.sync += [self.o.eq(read.data), count.eq(self.x)]
        return m


@pytest.mark.parametrize("component, slots, message", [
    (Unregistered, 8, "output o is no register"),
    (Computed, 8, "an address of memory memory.*, which is read at once, takes more than a slot"),
    (PacedExample, 2, "2 slots are too few"),
])
def test_what_cannot_be_paced(component, slots, message, monkeypatch):
    monkeypatch.setattr(pace_module, "_LEVELS", 1)
    with pytest.raises(FoldingError, match=message):
        convert_changed(component(), "paced", lambda module: pace(module, slots=slots))
