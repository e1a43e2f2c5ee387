# SPDX-License-Identifier: BSD-2-Clause
"""What cannot be folded, and runs of what can: any run of one module is proved."""

import copy
import random
from itertools import chain

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hypercast.proofs.folding.fold import PROOFS, FoldedExample
from hypercast.proofs.solver import prove
from hypercast.rtl.folding import fold as fold_module
from hypercast.rtl.folding import stages
from hypercast.rtl.folding.dependencies import FoldingError
from hypercast.rtl.folding.flat import convert_changed
from hypercast.rtl.folding.fold import NEXT, fold
from tests.rtl.folding.drawing import RESET_CYCLES, Drawing
from tests.rtl.folding.runs import driven
from tests.rtl.folding.simulation import Simulation

_SLOTS = 8


@pytest.fixture
def small(monkeypatch):
    """Limits that small modules reach."""
    monkeypatch.setattr(stages, "_LEVELS", 6)
    monkeypatch.setattr(fold_module, "_GROUP", 3)
    monkeypatch.setattr(fold_module, "_RAM_WIDTH", 7)


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.usefixtures("small")
def test_random_modules(seed):
    """Each instance, and what it will be, in its slots."""
    rng = random.Random(seed)
    module = Drawing(seed, known=True).module
    parts = [Simulation(copy.deepcopy(module)) for _ in range(_SLOTS)]
    fold(module, slots=_SLOTS, index="core", private=("own",))
    folded, then, following = Simulation(module), {}, True
    for cycle in range(RESET_CYCLES + 8):
        reset, following = following, cycle + 1 < RESET_CYCLES or rng.random() < 0.1
        common = rng.randrange(4)
        for slot, part in enumerate(parts):
            own = rng.randrange(4)
            early = following if slot == _SLOTS - 1 else reset
            now = folded.step(rst=early, common=common, own=own, restart=0)
            if cycle >= RESET_CYCLES:
                assert now == {**part.outputs(), **then, "slot": slot}
            part.step(rst=reset, common=common, own=own, core=slot)
            part.begin()
            then = {f"{name}{NEXT}": value for name, value in part.outputs().items()}


@pytest.mark.parametrize("seed", range(4))
def test_whatever_takes_the_reset_has_a_flip_flop_for_it(seed):
    """Nothing but flip-flops of one user each, which tools keep apart, takes the reset."""
    module = Drawing(seed, known=True).module
    [reset] = module["ports"]["rst"]["bits"]
    fold(module, slots=_SLOTS, index="core", private=("own",))
    users = {name: [name for name, cell in module["cells"].items()
                    if bit in chain(*cell["connections"].values()) and bit not in
                    cell["connections"].get("Q", ())]
             for name, cell in module["cells"].items() if reset in chain(
                 *cell["connections"].values()) for bit in cell["connections"]["Q"]}
    assert users
    for name, [_] in users.items():
        assert module["cells"][name]["type"] == "$dff"
        assert module["cells"][name]["attributes"]["keep"][-1] == "1"


class Unregistered(wiring.Component):
    """A component whose output is no register."""

    core: In(3)
    own: In(1)
    o: Out(1)
    registered: Out(1)

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.o.eq(self.own)
        m.d.sync += self.registered.eq(self.own)
        return m


class Direct(Unregistered):
    """Reads a memory at once where an input says."""

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = Memory(shape=1, depth=2, init=[])
        read, write = memory.read_port(domain="comb"), memory.write_port()
        m.d.comb += [read.addr.eq(self.own), write.data.eq(self.own), write.en.eq(1)]
        m.d.sync += self.o.eq(read.data)
        return m


@pytest.mark.slow
@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: proof.size)
def test_a_run_of_all_instances(proof, tmp_path):
    prove(driven(proof.bench()), tmp_path, cycles=48)


@pytest.mark.parametrize("component, slots, message", [
    (Unregistered, 8, "output o is no register"),
    (Direct, 8, "memory memory.* is read at once where input own says"),
    (FoldedExample, 2, "2 instances are too few: registers_.* is needed . slots ahead"),
])
def test_what_cannot_be_folded(component, slots, message):
    with pytest.raises(FoldingError, match=message):
        convert_changed(component(), "folded", lambda module: fold(
            module, slots=slots, index="core", private=("own",)))
