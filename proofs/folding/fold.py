# SPDX-License-Identifier: BSD-2-Clause
"""Folding: a folded module is each of its instances in turn."""

from functools import partial
from unittest.mock import patch

from amaranth.hdl import (
    Array,
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

from hypercast.proofs.proof import Proof
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import past
from hypercast.rtl.folding import stages
from hypercast.rtl.folding.flat import convert_changed
from hypercast.rtl.folding.fold import fold

__all__ = ["PROOFS", "FoldedExample"]

_SLOTS = 8
#: A cycle of all instances in reset, and three in which they may be or not.
_CYCLES = 4 * _SLOTS


class FoldedExample(wiring.Component):
    """One of everything that is folded in a way of its own.

    Registers with enables and resets of their own, or none; memories read synchronously, with and
    without enable, and at once, where registers say, where another memory says, or a fixed one.
    """

    def __init__(self) -> None:
        super().__init__({"core": In(3), "begin": In(1), "common": In(2), "own": In(2),
                          "o": Out(8), "kept": Out(2), "step": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        pointer, shared = Signal(1, init=1), Signal(2)
        count, latched = Signal(6), Signal(7, init=0x2A)
        unreset = Signal(3, reset_less=True)
        m.submodules.table = table = Memory(shape=2, depth=4, init=[2, 3, 0, 1])
        m.submodules.first = first = Memory(shape=1, depth=2, init=[0, 1])
        m.submodules.second = second = Memory(shape=3, depth=2, init=[5, 0])
        m.submodules.third = third = Memory(shape=2, depth=2, init=[0, 1])
        look = table.read_port()
        here, there = first.read_port(domain="comb"), second.read_port(domain="comb")
        slow = third.read_port()
        writes = [memory.write_port() for memory in (first, second, third)]
        m.d.comb += [
            look.addr.eq(count), here.addr.eq(pointer), there.addr.eq(here.data ^ self.core[0]),
            slow.addr.eq(pointer), slow.en.eq(self.own[0] | self.begin),
        ]
        for write, data in zip(writes, (self.own[1], count, self.own + look.data), strict=True):
            m.d.comb += [write.addr.eq(count[1]), write.data.eq(data),
                         write.en.eq(self.own[0] & ~self.begin)]
        m.d.sync += [
            shared.eq(shared + self.common), pointer.eq(pointer ^ self.own[1]),
            self.o.eq((there.data + latched) ^ count ^ (slow.data << 2) ^ (look.data << 4)),
            self.step.eq(unreset[0] ^ shared[1]), unreset.eq(self.own + self.core),
        ]
        with m.If(self.own[0]):
            m.d.sync += [count.eq(count + self.core + shared), self.kept.eq(here.data + count)]
        with m.If(self.own == 2):
            m.d.sync += latched.eq(latched + count)
        with m.If(self.own == 3):
            m.d.sync += count.eq(9)
        return m


def _bench(levels: int) -> Bench:
    """Instances that have their cycles one after the other, and the folded one beside them."""
    m = Module()
    names = "o", "kept", "step"
    own, following, again = Signal(2), Signal(2), Signal()
    slot, rounds = Signal(3), Signal(2)
    common, early_reset, reset = Signal(2), Signal(init=1), Signal(init=1)
    m.d.sync += slot.eq(slot + 1)
    with m.If(slot == _SLOTS - 2):
        m.d.sync += early_reset.eq(again)
    with m.If(slot == _SLOTS - 1):
        m.d.sync += [common.eq(following), reset.eq(early_reset),
                     rounds.eq(Mux(rounds == 3, 3, rounds + 1))]

    parts = [FoldedExample() for _ in range(_SLOTS)]
    for index, part in enumerate(parts):
        m.d.comb += [part.core.eq(index), part.begin.eq(reset), part.common.eq(common),
                     part.own.eq(own)]
        m.submodules[f"part_{index}"] = EnableInserter(slot == index)(ResetInserter(reset)(part))
    now = {name: Signal(len(getattr(parts[0], name)), name=f"now_{name}") for name in names}
    then = {name: Signal(len(value), name=f"then_{name}") for name, value in now.items()}
    folded_slot = Signal(3)
    m.submodules.folded = Instance(
        "folded", i_clk=ClockSignal(), i_restart=0, i_rst=early_reset, i_begin=reset,
        i_common=common, i_own=own, o_slot=folded_slot,
        **{f"o_{name}": value for name, value in now.items()},
        **{f"o_{name}__next": value for name, value in then.items()})

    # What has been read of a memory is defined only after the first round.
    begun = rounds != 0
    before = past(m, slot)
    m.d.comb += Assert(folded_slot == slot)
    for name, value in now.items():
        outputs = Array(getattr(part, name) for part in parts)
        m.d.comb += Assert(~begun | (value == outputs[slot]))
        m.d.comb += Assert(~past(m, begun) | (then[name] == outputs[before]))
    with patch.object(stages, "_LEVELS", levels):
        folded_text = convert_changed(
            FoldedExample(), "folded",
            lambda module: fold(module, slots=_SLOTS, index="core", private=("own",)))
    return Bench(m, [own, following, again],
                 [(rounds == 3) & (now["kept"] == 3), now["step"] == 1],
                 folded_text)


PROOFS = [
    Proof(block="fold", claim="a folded module is each of its instances in turn",
          size=f"8 instances, first stage of {levels} levels", bench=partial(_bench, levels),
          cycles=_CYCLES, limit="memories of all instances are too much state for an induction",
          slow=True)
    for levels in (10, 5)
]
