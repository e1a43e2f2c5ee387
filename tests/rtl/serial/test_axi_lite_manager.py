# SPDX-License-Identifier: BSD-2-Clause
"""AxiLiteManager in front of AxiLiteSubordinate: what goes in comes out."""

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl.control.axi_lite import AxiLiteSubordinate, RegisterBus
from hypercast.rtl.serial.axi_lite_manager import AxiLiteManager
from tests.bench import run


class _Pair(wiring.Component):
    bus: In(RegisterBus())
    far: Out(RegisterBus())

    def elaborate(self, platform):
        m = Module()
        m.submodules.manager = manager = AxiLiteManager()
        m.submodules.subordinate = subordinate = AxiLiteSubordinate()
        connect(m, flipped(self.bus), manager.bus)
        connect(m, manager.axi, subordinate.axi)
        connect(m, subordinate.bus, flipped(self.far))
        return m


@pytest.mark.parametrize("delay", [0.0, 0.7])
def test_accesses(delay):
    rng = np.random.default_rng(1)
    dut = _Pair()
    seen = []

    async def serve(ctx):
        while True:
            _, _, valid, write, address, data = await ctx.tick().sample(
                dut.far.valid, dut.far.write, dut.far.address, dut.far.data)
            if not valid or rng.random() < delay:
                continue
            seen.append((write, address, data if write else None))
            ctx.set(dut.far.result, address * 3)
            ctx.set(dut.far.error, address >= 1000)
            ctx.set(dut.far.done, 1)
            await ctx.tick()
            ctx.set(dut.far.done, 0)
            ctx.set(dut.far.result, 0)

    async def bench(ctx):
        expected = []
        for _ in range(150):
            write, address = int(rng.integers(2)), int(rng.integers(1024))
            data = int(rng.integers(1 << 32))
            expected.append((write, address, data if write else None))
            for signal, value in ((dut.bus.write, write), (dut.bus.address, address),
                                  (dut.bus.data, data), (dut.bus.valid, 1)):
                ctx.set(signal, value)
            done = 0
            while not done:
                _, _, done, error, result = await ctx.tick().sample(
                    dut.bus.done, dut.bus.error, dut.bus.result)
            ctx.set(dut.bus.valid, 0)
            assert error == (address >= 1000)
            # What ends with SLVERR brings zeros.
            assert write or result == (0 if error else address * 3)
            while rng.random() < delay:
                await ctx.tick()
        assert seen == expected

    run(dut, bench, background=[serve])


def test_it_is_ready_for_the_response_that_it_waits_for_only():
    rng = np.random.default_rng(2)
    dut = AxiLiteManager()
    axi, bus = dut.axi, dut.bus

    async def pause(ctx, write, *, waiting):
        for _ in range(int(rng.integers(4))):
            assert (ctx.get(axi.bready), ctx.get(axi.rready)) == (
                (write, not write) if waiting else (0, 0))
            await ctx.tick()

    async def bench(ctx):
        for _ in range(40):
            write = int(rng.integers(2))
            ctx.set(bus.write, write)
            ctx.set(bus.valid, 1)
            await ctx.tick().repeat(2)
            await pause(ctx, write, waiting=True)
            accepts = (axi.awready, axi.wready) if write else (axi.arready,)
            for accept in accepts:
                ctx.set(accept, 1)
            await ctx.tick()
            for accept in accepts:
                ctx.set(accept, 0)
            await pause(ctx, write, waiting=True)
            response = axi.bvalid if write else axi.rvalid
            ctx.set(response, 1)
            await ctx.tick()
            ctx.set(response, 0)
            ctx.set(bus.valid, 0)
            assert ctx.get(bus.done)
            await ctx.tick()
            await pause(ctx, write, waiting=False)

    run(dut, bench)
