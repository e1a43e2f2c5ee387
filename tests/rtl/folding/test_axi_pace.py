# SPDX-License-Identifier: BSD-2-Clause
"""AxiPace: a fast manager and a register file that works in one cycle of five."""

import random

from amaranth.hdl import EnableInserter, Module, Mux, Signal
from amaranth.lib.wiring import connect

from hypercast.rtl.control.axi_lite import AxiLiteSubordinate
from hypercast.rtl.folding.axi_pace import AxiPace
from hypercast.rtl.serial.axi_lite_manager import AxiLiteManager
from tests.bench import run

PERIOD = 5


def test_every_access_happens_once():
    m = Module()
    m.submodules.manager = manager = AxiLiteManager()
    m.submodules.pace = pace = AxiPace()
    subordinate = AxiLiteSubordinate()
    count, turn = Signal(8), Signal(range(PERIOD))
    m.submodules.subordinate = EnableInserter(pace.enable)(subordinate)
    connect(m, manager.axi, pace.manager)
    connect(m, pace.subordinate, subordinate.axi)
    m.d.comb += [pace.enable.eq(turn == PERIOD - 1), subordinate.bus.done.eq(subordinate.bus.valid),
                 subordinate.bus.result.eq(count)]
    m.d.sync += turn.eq(Mux(pace.enable, 0, turn + 1))
    with m.If(pace.enable & subordinate.bus.valid & subordinate.bus.write):
        m.d.sync += count.eq(count + subordinate.bus.data[:8])
    rng = random.Random(1)

    async def bench(ctx):
        total = 0
        for _ in range(40):
            write, value = rng.randrange(2), rng.randrange(256)
            ctx.set(manager.bus.write, write)
            ctx.set(manager.bus.data, value)
            ctx.set(manager.bus.valid, 1)
            while not ctx.get(manager.bus.done):
                await ctx.tick()
            assert not ctx.get(manager.bus.error)
            if write:
                total = (total + value) % 256
            else:
                assert ctx.get(manager.bus.result) == total
            await ctx.tick()
            ctx.set(manager.bus.valid, 0)
            await ctx.tick().repeat(1 + rng.randrange(7))

    run(m, bench)
