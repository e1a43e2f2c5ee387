# SPDX-License-Identifier: BSD-2-Clause
"""FoldedChip around stand-ins for the folded core and the paced control unit."""

import random
import re

import pytest
from amaranth.back import rtlil
from amaranth.hdl import ClockDomain, ClockSignal, Module, ResetSignal, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.axi_lite import AxiLite
from hypercast.rtl.control.control_unit import control_signature
from hypercast.rtl.core import core_signature
from hypercast.rtl.folding import folded_chip
from hypercast.rtl.folding.fold import NEXT
from hypercast.rtl.folding.folded_chip import (
    FOLDED_CORE_MODULE,
    PACED_CONTROL_MODULE,
    FoldedChip,
    folded_core_members,
)
from hypercast.rtl.layouts import Link

_CONFIG = PRESETS["tiny"].replace(dimensions=3)
_BROADCAST = ("issue", "issue_valid", "clear", "request", "request_valid")
_REPORTS = ("busy", "peak", "error", "progress", "response", "response_valid")


class StandIn(wiring.Component):
    """A part whose outputs are the test's; shows the clock and the reset that it is given."""

    parts = {}

    def __init__(self, module, members, *, reset=None):
        super().__init__(members)
        self._reset = ResetSignal() if reset is None else reset
        self.clock_seen, self.reset_seen = Signal(), Signal()
        self.parts[module] = self

    def elaborate(self, platform):
        m = Module()
        m.d.comb += [self.clock_seen.eq(ClockSignal()), self.reset_seen.eq(self._reset)]
        return m


class Bench:
    """A chip whose parts are stand-ins, slot by slot."""

    def __init__(self, monkeypatch):
        monkeypatch.setattr(folded_chip, "Converted", StandIn)
        self.chip = FoldedChip(_CONFIG)
        top = Module()
        top.domains.sync = self.clock = ClockDomain()
        top.submodules.chip = self.chip
        self._simulator = Simulator(top)
        self._simulator.add_clock(1e-6)
        self.core = StandIn.parts[FOLDED_CORE_MODULE]
        self.control = StandIn.parts[PACED_CONTROL_MODULE]

    async def slots(self, ctx, cycles):
        """Yields (cycle of the chip, slot) until some cycles have passed."""
        for cycle in range(cycles):
            for slot in range(_CONFIG.cores):
                ctx.set(self.core.slot, slot)
                yield cycle, slot
                await ctx.tick()

    def run(self, program):
        self._simulator.add_testbench(program)
        self._simulator.run()


@pytest.fixture
def bench(monkeypatch):
    return Bench(monkeypatch)


def draw(rng, width):
    return rng.getrandbits(width)


def width_of(port):
    return len(Value.cast(port))


def test_links(bench):
    """Each core hears in a cycle what its neighbours announced for it."""
    rng = random.Random(0)
    cores, dimensions = range(_CONFIG.cores), range(_CONFIG.dimensions)
    #: Names of what leaves a core and what comes to another.
    ends = {name: ("outgoing", "incoming") if member.flow == Out else ("incoming", "outgoing")
            for name, member in Link(_CONFIG).members.items()}
    said = []  # by cycle: dictionary of core, dimension and name

    def says(cycle):
        while len(said) <= cycle:
            said.append({(core, dimension, name): draw(rng, width_of(
                getattr(bench.core, f"{ends[name][0]}__{dimension}__{name}")))
                for core in cores for dimension in dimensions for name in ends})
        return said[cycle]

    async def program(ctx):
        async for cycle, slot in bench.slots(ctx, 6):
            announced = says(cycle + 1 if slot else cycle)
            for dimension in dimensions:
                for name, (source, target) in ends.items():
                    ctx.set(getattr(bench.core, f"{source}__{dimension}__{name}{NEXT}"),
                            announced[(slot - 1) % len(cores), dimension, name])
                    if cycle > 1:
                        heard = ctx.get(getattr(bench.core, f"{target}__{dimension}__{name}"))
                        assert heard == says(cycle)[slot ^ 1 << dimension, dimension, name]

    bench.run(program)


def test_the_control_unit_hears_every_core_in_the_last_slot(bench):
    rng = random.Random(1)

    async def program(ctx):
        said = {}
        async for _, slot in bench.slots(ctx, 5):
            for name in _REPORTS:
                port = getattr(bench.core, name)
                said[name, slot] = draw(rng, width_of(port))
                ctx.set(port, said[name, slot])
            assert ctx.get(bench.control.enable) == (slot == _CONFIG.cores - 1)
            if ctx.get(bench.control.enable):
                for (name, core), value in said.items():
                    assert ctx.get(getattr(bench.control, name)[core]) == value

    bench.run(program)


def test_the_control_unit_reaches_every_core(bench):
    rng = random.Random(2)

    async def program(ctx):
        async for _ in bench.slots(ctx, 2):
            for name in _BROADCAST:
                source = Value.cast(getattr(bench.control, name))
                value = draw(rng, len(source))
                ctx.set(source, value)
                assert ctx.get(Value.cast(getattr(bench.core, name))) == value

    bench.run(program)


def test_transfers_of_the_host_are_in_the_last_slot(bench):
    rng = random.Random(3)
    sides = bench.chip.axi, bench.control.axi

    async def program(ctx):
        async for cycle, slot in bench.slots(ctx, 4):
            for name, member in AxiLite().members.items():
                source, target = (Value.cast(getattr(side, name))
                                  for side in (sides if member.flow == Out else sides[::-1]))
                value = draw(rng, len(source))
                ctx.set(source, value)
                # The manager's side waits for the subordinate's turn, and for its reset's end.
                if member.flow == In and name.endswith(("ready", "valid")):
                    value &= cycle > 0 and slot == _CONFIG.cores - 1
                assert ctx.get(target) == value, name

    bench.run(program)


def test_resets_last_whole_cycles_of_the_chip(bench):
    """All parts see the same clock and resets, the core's a slot early.

    The folded core hears of a restart at once. The control unit can reset the core alone.
    """
    rng = random.Random(4)
    last = _CONFIG.cores - 1

    async def program(ctx):
        expected = also = sampled = 1
        async for cycle, slot in bench.slots(ctx, 12):
            asked = (cycle, slot) in asked_for
            ctx.set(bench.clock.rst, asked)
            ctx.set(bench.control.reset, cycle in own)
            assert ctx.get(bench.control.reset_seen) == expected
            assert ctx.get(bench.core.reset_seen) == also
            assert ctx.get(bench.core.clock_seen) == ctx.get(bench.control.clock_seen) == ctx.get(
                bench.clock.clk)
            restart = rng.randrange(2)
            ctx.set(bench.chip.restart, restart)
            assert ctx.get(bench.core.restart) == restart
            if slot == last - 1:  # the core takes it a slot later
                sampled, also = asked, asked or cycle in own
            if slot == last:
                expected = sampled

    own = {4, 6, 7, 10}
    asked_for = {(cycle, slot) for cycle in range(12) for slot in range(last + 1)
                 if 3 <= cycle < 5 or (cycle == 7 and slot < 3)
                 or (cycle, slot) in {(8, last), (9, last - 1)}}
    bench.run(program)


@pytest.mark.parametrize("dimensions", [3, 5])
def test_the_folded_cores_ports(dimensions):
    """The ports are a core's without its number, and what each output will be in the next cycle."""
    config = _CONFIG.replace(dimensions=dimensions)
    members = folded_core_members(config)
    signature = wiring.Signature(core_signature(config))
    expected = {"restart": (In, 1), "slot": (Out, dimensions)}
    for path, member, value in signature.flatten(signature.create()):
        name, width = "__".join(map(str, path)), width_of(value)
        expected[name] = member.flow, width
        if member.flow == Out:
            expected[f"{name}{NEXT}"] = Out, width
    del expected["core"]
    assert {name: (member.flow, member.shape) for name, member in members.items()} == expected


def test_the_parts_are_modules_of_their_own():
    text = rtlil.convert(FoldedChip(_CONFIG), name="top")
    for module, members in (
            (FOLDED_CORE_MODULE, folded_core_members(_CONFIG)),
            (PACED_CONTROL_MODULE, {**control_signature(_CONFIG), "enable": In(1)})):
        [cell] = re.findall(rf"^  cell \\{module} .*?^  end", text, re.MULTILINE | re.DOTALL)
        signature = wiring.Signature(members)
        ports = ["__".join(map(str, path))
                 for path, *_ in signature.flatten(signature.create())]
        assert sorted(re.findall(r"connect \\(\S+)", cell)) == sorted([*ports, "clk", "rst"])
