"""Proof that a paced module is the module itself, in the last slot of several."""

import pytest
from amaranth.hdl import (
    Assert,
    ClockSignal,
    EnableInserter,
    Instance,
    Module,
    Mux,
    ResetInserter,
    Signal,
)
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from hypercast.rtl.folding import pace as pace_module
from hypercast.rtl.folding.dependencies import FoldingError
from hypercast.rtl.folding.flat import convert_changed
from hypercast.rtl.folding.pace import pace
from tests.formal.proof import ProofFailedError, mistaken, prove

SLOTS = 8
#: A cycle of the module in reset, and three in which it may be or not.
CYCLES = 4 * SLOTS


class Example(wiring.Component):
    """Registers with and without enable, reset and what Yosys takes for one; memories; inputs late
    in a long path.
    """

    begin: In(1)
    x: In(2)
    o: Out(6)
    kept: Out(3)
    pulse: Out(2)

    def elaborate(self, platform):
        m = Module()
        count, sums, unreset = Signal(4), Signal(6, init=9), Signal(2, reset_less=True)
        m.submodules.table = table = Memory(shape=3, depth=4, init=[2, 3, 0, 1])
        m.submodules.store = store = Memory(shape=3, depth=4, init=[1, 5, 0, 7])
        look, there, write = table.read_port(), store.read_port(domain="comb"), store.write_port()
        m.d.comb += [
            look.addr.eq(sums + count), look.en.eq(self.x[0] | self.begin),
            there.addr.eq(count), write.addr.eq((sums + count) >> 1),
            write.data.eq(sums + look.data),
            write.en.eq(((sums + count)[0] ^ self.x[1]) & ~self.begin),
        ]
        m.d.sync += [count.eq(count + 1 + self.x), unreset.eq(self.x + count),
                     self.o.eq((sums + there.data) ^ (look.data << 2) ^ unreset)]
        with m.If(((sums + count) ^ there.data)[1]):
            m.d.sync += sums.eq(((sums + count) ^ (count << 1)) + self.x)
        m.d.sync += self.pulse.eq(0)
        with m.If(count[0] ^ sums[1] ^ self.x[0]):
            m.d.sync += self.pulse.eq(count + 1)
        with m.If(self.x == 3):
            m.d.sync += self.kept.eq(sums + look.data)
        return m


def bench(tmp_path):
    """The module enabled in the last slot, and the paced one beside it."""
    m = Module()
    slot, rounds, x = Signal(range(SLOTS)), Signal(2), Signal(2)
    reset, again, last = Signal(init=1), Signal(), Signal()
    m.d.comb += last.eq(slot == SLOTS - 1)
    m.d.sync += slot.eq(slot + 1)
    with m.If(last):
        m.d.sync += [reset.eq(again), rounds.eq(Mux(rounds == 3, 3, rounds + 1))]
    whole = Example()
    m.submodules.whole = EnableInserter(last)(ResetInserter(reset)(whole))
    outputs = {name: Signal.like(getattr(whole, name)) for name in ("o", "kept", "pulse")}
    m.d.comb += [whole.x.eq(x), whole.begin.eq(reset)]
    m.submodules.paced = Instance(
        "paced", i_clk=ClockSignal(), i_rst=reset, i_begin=reset, i_enable=last, i_x=x,
        **{f"o_{name}": value for name, value in outputs.items()})
    for name, value in outputs.items():
        # What has been read of a memory is defined only after the first round.
        m.d.comb += Assert((rounds == 0) | (value == getattr(whole, name)))
    part = convert_changed(Example(), "paced", lambda module: pace_module.pace(module, slots=SLOTS))
    return m, [x, again], [(rounds == 3) & (outputs["kept"] == 4), outputs["o"] != 0], part


@pytest.mark.parametrize("levels", [20, 2, 1])
def test_a_paced_module_is_the_module(levels, tmp_path, monkeypatch):
    """Whether there are cuts or none."""
    monkeypatch.setattr(pace_module, "_LEVELS", levels)
    m, inputs, reach, part = bench(tmp_path)
    assert ("$cut" in part) == (levels < 20)
    prove(m, inputs, reach, tmp_path, CYCLES, parts=part)


@pytest.mark.parametrize("old, new", [
    # An input that is cut; a register that changes, is reset, a memory that changes in any slot.
    ("self._dependents(netlist.inputs)", "set()"),
    ('cell["connections"][port] = [gate(bit)]', 'cell["connections"][port] = [bit]'),
    ('("SRST", register.reset)][:1 + resettable]', ']'),
    ("[gate(bit) for bit in", "[bit for bit in"),
])
def test_mistakes_are_found(old, new, tmp_path, monkeypatch):
    changed = mistaken(pace_module, old, new)
    monkeypatch.setattr(changed, "_LEVELS", 1)
    monkeypatch.setattr(pace_module, "pace", changed.pace)
    m, inputs, reach, part = bench(tmp_path)
    with pytest.raises(ProofFailedError):
        prove(m, inputs, reach, tmp_path, CYCLES, parts=part)


class Unregistered(wiring.Component):
    """Its output is no register."""

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
    (Example, 2, "2 slots are too few"),
])
def test_what_cannot_be_paced(component, slots, message, monkeypatch):
    monkeypatch.setattr(pace_module, "_LEVELS", 1)
    with pytest.raises(FoldingError, match=message):
        convert_changed(component(), "paced", lambda module: pace(module, slots=slots))
