# SPDX-License-Identifier: BSD-2-Clause
"""The watchdog of programs."""

from functools import partial
from unittest.mock import patch

from amaranth.hdl import Assert, Assume, Module, Signal

from hypercast.proofs.inside import Inside
from hypercast.proofs.proof import Proof
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import past
from hypercast.rtl.control import watchdog
from hypercast.rtl.limits import PATIENCE
from hypercast.rtl.registers import LIMIT_UNIT

__all__ = ["PROOFS"]


def _bench(patience: int, unit: int) -> Bench:
    """It tells of a standstill and of a runaway when there is one, and only then."""
    m = Module()
    dut = watchdog.Watchdog()
    with patch.multiple(watchdog, PATIENCE=patience, LIMIT_UNIT=unit):
        inside = Inside(m, dut)
    still, moves = Signal(range(patience)), Signal.like(inside.signal("moved"))
    enough = Signal()  # of moves, for a runaway
    m.d.comb += enough.eq(moves == dut.limit * unit)
    with m.If(~dut.enable):
        m.d.sync += [still.eq(0), moves.eq(0)]
    with m.Elif(dut.progress):
        m.d.sync += [still.eq(0), moves.eq(moves + ~enough)]
    with m.Else():
        m.d.sync += still.eq(still + 1)
    stuck = dut.enable & ~dut.progress & (still == patience - 1)
    run_away = dut.enable & enough
    begins = run_away & ~past(m, run_away)
    m.d.comb += [
        Assume(~past(m, dut.enable) | (dut.limit == past(m, dut.limit))),
        Assert(dut.standstill == past(m, stuck)),
        Assert(~dut.runaway | past(m, run_away)), Assert(dut.runaway | ~past(m, begins)),
        Assert(moves <= dut.limit * unit),
        Assert(still == inside.signal("idle")),
        Assert(enough | (moves == inside.signal("moved"))),
        Assert(~begins | (moves == inside.signal("moved"))),
    ]
    return Bench(m, [dut.enable, dut.progress, dut.limit],
                 [dut.runaway & (dut.limit == 0), past(m, moves == 3)] + (
                     [dut.standstill, dut.runaway & (dut.limit == 2)] if patience < 20 else []))


PROOFS = [
    Proof(block="watchdog", size=f"patience {patience}, unit {unit}",
          bench=partial(_bench, patience, unit),
          claim="barks when nothing has moved for long enough, or too much has, and only then")
    for patience, unit in ((4, 2), (PATIENCE, LIMIT_UNIT))
]
