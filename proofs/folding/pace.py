# SPDX-License-Identifier: BSD-2-Clause
"""Pacing: a paced module is the module itself, in the last slot of several."""

from functools import partial
from unittest.mock import patch

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

from hypercast.proofs.proof import Proof
from hypercast.proofs.solver import Bench
from hypercast.rtl.folding import pace as pace_module
from hypercast.rtl.folding.flat import convert_changed

__all__ = ["PROOFS", "PacedExample"]

_SLOTS = 8
#: A cycle of the module in reset, and three in which it may be or not.
_CYCLES = 4 * _SLOTS


class PacedExample(wiring.Component):
    """Registers with and without enable, reset and what Yosys takes for one; memories; inputs late
    in a long path.
    """

    begin: In(1)
    x: In(2)
    o: Out(6)
    kept: Out(3)
    pulse: Out(2)

    def elaborate(self, platform: object) -> Module:
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


def _bench(levels: int) -> Bench:
    """The module enabled in the last slot, and the paced one beside it."""
    m = Module()
    slot, rounds, x = Signal(range(_SLOTS)), Signal(2), Signal(2)
    reset, again, last = Signal(init=1), Signal(), Signal()
    m.d.comb += last.eq(slot == _SLOTS - 1)
    m.d.sync += slot.eq(slot + 1)
    with m.If(last):
        m.d.sync += [reset.eq(again), rounds.eq(Mux(rounds == 3, 3, rounds + 1))]
    whole = PacedExample()
    m.submodules.whole = EnableInserter(last)(ResetInserter(reset)(whole))
    outputs = {name: Signal.like(getattr(whole, name)) for name in ("o", "kept", "pulse")}
    m.d.comb += [whole.x.eq(x), whole.begin.eq(reset)]
    m.submodules.paced = Instance(
        "paced", i_clk=ClockSignal(), i_rst=reset, i_begin=reset, i_enable=last, i_x=x,
        **{f"o_{name}": value for name, value in outputs.items()})
    for name, value in outputs.items():
        # What has been read of a memory is defined only after the first round.
        m.d.comb += Assert((rounds == 0) | (value == getattr(whole, name)))
    with patch.object(pace_module, "_LEVELS", levels):
        part = convert_changed(
            PacedExample(), "paced", lambda module: pace_module.pace(module, slots=_SLOTS))
    return Bench(m, [x, again], [(rounds == 3) & (outputs["kept"] == 4), outputs["o"] != 0], part)


PROOFS = [
    Proof(block="pace", claim="a paced module is the module itself in the last slot",
          size=f"8 slots, paths of {levels} levels", bench=partial(_bench, levels),
          cycles=_CYCLES, limit="the solver does not find the two modules' states equal by itself",
          slow=levels != 2)
    for levels in (20, 2, 1)
]
