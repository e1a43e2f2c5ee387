# SPDX-License-Identifier: BSD-2-Clause
"""AxiLiteSubordinate against a memory behind its register bus."""

import numpy as np
import pytest

from hypercast.rtl.control.axi_lite import AxiLiteSubordinate, Response
from tests.bench import run
from tests.rtl.control.axi_manager import AxiManager

#: Registers from here on fail.
_LIMIT = 512


async def _serve(ctx, bus, rng, delay, memory, log):
    """Registers with random latency that log every access."""
    while True:
        _, _, valid, write, address, data = await ctx.tick().sample(
            bus.valid, bus.write, bus.address, bus.data)
        if not valid:
            continue
        while rng.random() < delay:
            _, _, valid, *now = await ctx.tick().sample(
                bus.valid, bus.write, bus.address, bus.data)
            assert valid and now == [write, address, data], "the access changed"
        log.append(("w" if write else "r", address))
        if write and address < _LIMIT:
            memory[address] = data
        ctx.set(bus.result, int(memory[address]))
        ctx.set(bus.error, int(address >= _LIMIT))
        ctx.set(bus.done, 1)
        await ctx.tick()
        ctx.set(bus.done, 0)
        ctx.set(bus.error, 0)
        ctx.set(bus.result, 0)


@pytest.mark.parametrize("delay", [0.0, 0.3, 0.8])
def test_random_transactions_in_order(delay):
    rng = np.random.default_rng(int(delay * 10))
    dut = AxiLiteSubordinate()
    manager = AxiManager(dut.axi, rng, delay)
    memory = rng.integers(1 << 32, size=1024)
    expected = memory.copy()
    log = []

    async def bench(ctx):
        # Reads below 256, writes above: their order among each other is free.
        for _ in range(20):
            reads = rng.integers(0, 256, size=5)
            writes = rng.integers(256, _LIMIT + 100, size=5)
            data = rng.integers(1 << 32, size=5)
            strobes = [0xF, 0xF, int(rng.integers(16)), 0xF, 0xF]
            for read, address, value, strobe in zip(reads, writes, data, strobes, strict=True):
                manager.start_read(4 * int(read) + int(rng.integers(4)))
                manager.start_write(4 * int(address), int(value), strobe)
            for read in reads:
                assert await manager.read_response(ctx) == (Response.OKAY, expected[read])
            for address, value, strobe in zip(writes, data, strobes, strict=True):
                good = address < _LIMIT and strobe == 0xF
                if good:
                    expected[address] = value
                assert await manager.write_response(ctx) == (
                    Response.OKAY if good else Response.SLVERR)
            assert np.array_equal(memory, expected)
            assert await manager.read(ctx, 4 * _LIMIT) == (Response.SLVERR, 0)

    run(dut, bench, cycles=20_000, background=[
        *manager.drivers, lambda ctx: _serve(ctx, dut.bus, rng, delay, memory, log)])


def test_reads_and_writes_take_turns():
    rng = np.random.default_rng(1)
    dut = AxiLiteSubordinate()
    manager = AxiManager(dut.axi, rng, 0.0)
    log = []

    async def bench(ctx):
        for address in range(50):
            manager.start_read(4 * address)
            manager.start_write(4 * address, 1)
        for _ in range(50):
            await manager.read_response(ctx)
            await manager.write_response(ctx)
        directions = "".join(direction for direction, _ in log)
        assert "rrr" not in directions and "www" not in directions

    run(dut, bench, cycles=2000, background=[
        *manager.drivers,
        lambda ctx: _serve(ctx, dut.bus, rng, 0.0, np.zeros(1024, dtype=int), log)])


@pytest.mark.parametrize("first", ["address", "data"])
def test_write_address_and_data_come_in_any_order(first):
    dut = AxiLiteSubordinate()
    log = []
    memory = np.zeros(1024, dtype=int)

    async def bench(ctx):
        axi = dut.axi
        address, data = ((axi.awvalid, axi.awready), (axi.wvalid, axi.wready))
        ctx.set(axi.awaddr, 12)
        ctx.set(axi.wdata, 99)
        ctx.set(axi.wstrb, 0xF)
        for valid, ready in (address, data) if first == "address" else (data, address):
            assert not log
            ctx.set(valid, 1)
            await ctx.tick().until(ready)
            ctx.set(valid, 0)
            await ctx.tick().repeat(10)
        assert log == [("w", 3)] and memory[3] == 99
        assert ctx.get(axi.bvalid), "the response waits for bready"
        ctx.set(axi.bready, 1)
        await ctx.tick()
        assert not ctx.get(axi.bvalid)

    rng = np.random.default_rng(0)
    run(dut, bench, cycles=200,
        background=[lambda ctx: _serve(ctx, dut.bus, rng, 0.0, memory, log)])
