# SPDX-License-Identifier: BSD-2-Clause
"""Stages: the second is the logic's result a slot later, and both are short."""

import copy
import random

import pytest

from hypercast.rtl.folding import stages
from hypercast.rtl.folding.arrivals import Arrivals
from hypercast.rtl.folding.netlist import Netlist
from hypercast.rtl.folding.stages import Stages
from tests.rtl.folding.simulation import Simulation
from tests.rtl.folding.test_netlist import cell

#: Levels of a gate.
_GATE = 0.6


def logic(rng, count):
    """Gates on four inputs and on each other."""
    cells = {}
    for net in range(7, 7 + count):
        operands = {"A": [rng.randrange(max(3, net - 3), net)],
                    "B": [rng.choice([rng.randrange(3, net), "0", "1"])]}
        cells[f"gate{net}"] = cell(rng.choice(["$and", "$or", "$xor"]), operands, {"Y": [net]})
    return {"ports": {"clk": {"direction": "input", "bits": [2]},
                      "x": {"direction": "input", "bits": [3, 4, 5, 6]}},
            "netnames": {"all": {"bits": list(range(2, 7 + count)), "attributes": {}}},
            "cells": cells}


@pytest.mark.parametrize("levels", [0, 3, 10])
@pytest.mark.parametrize("seed", range(8))
def test_second_stage(seed, levels, monkeypatch):
    monkeypatch.setattr(stages, "_LEVELS", levels)
    rng = random.Random(seed)
    module = logic(rng, 60)
    whole, netlist = Simulation(copy.deepcopy(module)), Netlist(module)
    before = Arrivals(Netlist(copy.deepcopy(module)))
    made = Stages(netlist)
    nets = [*range(3, 67), "1", "0"]
    late = {net for net in nets if before.of(net) > levels}
    assert late and {net for net in nets if made.late([net])} == late
    assert made.late(nets) and not made.late(set(nets) - late)

    second = made.second(nets)
    assert [net for net, other in zip(nets, second, strict=True) if net == other] == [
        net for net in nets if net in late or net in ("0", "1")]
    assert made.second(nets) == second  # no flip-flop is there twice
    parts = Simulation(module)
    previous = None
    for _ in range(20):
        x = rng.randrange(16)
        whole.begin(x=x)
        parts.begin(x=x)
        early = [net for net in nets if net not in late]
        assert parts.value(early) == whole.value(early)
        if previous is not None:
            assert parts.value(second) == previous
        previous = whole.value(nets)
        parts.tick()

    after = Arrivals(Netlist(module))
    longest = max(map(before.of, nets))
    assert max(map(after.of, early)) <= levels
    assert max(map(after.of, late)) == pytest.approx(max(
        _GATE, longest - _GATE * int(levels / _GATE + 1e-9)))


def test_first_stage_has_ten_levels():
    """Where nothing else is said: of gates of 0.6 levels, sixteen."""
    cells = {f"not{net}": cell("$not", {"A": [net]}, {"Y": [net + 1]}, A_WIDTH="1")
             for net in range(3, 33)}
    made = Stages(Netlist({"ports": {"clk": {"direction": "input", "bits": [2]},
                                     "x": {"direction": "input", "bits": [3]}},
                           "netnames": {"end": {"bits": [33], "attributes": {}}},
                           "cells": cells}))
    assert [net for net in range(3, 34) if made.late([net])] == list(range(20, 34))
