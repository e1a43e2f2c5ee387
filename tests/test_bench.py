# SPDX-License-Identifier: BSD-2-Clause
"""The bench itself: what it must notice, and the memory model."""

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import Out

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import ReadPort, WritePort
from tests.bench import MemoryModel, get, put, run


@pytest.mark.parametrize(("idle", "stall"), [(0.0, 0.0), (0.5, 0.0), (0.0, 0.5)])
def test_queue(idle, stall):
    queue = SyncFIFOBuffered(width=8, depth=4)
    rng = np.random.default_rng(1)

    async def receiver(ctx):
        assert await get(ctx, queue.r_stream, 100, rng, stall) == list(range(100))

    run(queue, lambda ctx: put(ctx, queue.w_stream, range(100), rng, idle), receiver)


def test_hang_is_a_failure():
    queue = SyncFIFOBuffered(width=8, depth=4)
    with pytest.raises(TimeoutError, match="50 cycles"):
        run(queue, lambda ctx: get(ctx, queue.r_stream, 1), cycles=50)


class _Restless(wiring.Component):
    """A stream that breaks the rules: its payload changes every cycle."""

    o: Out(stream.Signature(8))

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.o.valid.eq(1)
        m.d.sync += self.o.payload.eq(self.o.payload + 1)
        return m


def test_payload_that_changes_is_a_failure():
    dut = _Restless()
    with pytest.raises(AssertionError, match="hold"):
        run(dut, lambda ctx: get(ctx, dut.o, 100, np.random.default_rng(1), 0.5))


class _Ports(wiring.Component):
    """Ports for a memory, used by the test itself."""

    def __init__(self, config):
        super().__init__({"read": Out(ReadPort(config)), "write": Out(WritePort(config))})

    def elaborate(self, platform):
        return Module()


@pytest.mark.parametrize(("latency", "stall"), [(1, 0.0), (9, 0.3)])
def test_memory_model(latency, stall):
    config = Config(lanes=2, channel_words=64)
    dut = _Ports(config)
    memory = MemoryModel(config, np.random.default_rng(0), latency, stall)
    memory.channels[0][:] = range(64)

    async def request(ctx, port, **fields):
        for name, value in fields.items():
            ctx.set(getattr(port.payload, name), value)
        ctx.set(port.valid, 1)
        ready = False
        while not ready:
            _, _, ready = await ctx.tick().sample(port.ready)
        ctx.set(port.valid, 0)

    async def client(ctx):
        ctx.set(dut.read.data.ready, 1)
        await request(ctx, dut.write.request, channel=1, address=5, data=77)
        cycles = 0
        idle = False
        while not idle:
            _, _, idle = await ctx.tick().sample(dut.write.idle)
            cycles += 1
        assert cycles >= latency
        for channel, expected in ((0, [4, 5, 6]), (1, [0, 77, 0])):
            await request(ctx, dut.read.request, channel=channel, address=4, length=3)
            words = []
            cycles = 0
            while len(words) < 3:
                _, _, valid, word = await ctx.tick().sample(
                    dut.read.data.valid, dut.read.data.payload)
                cycles += 1
                words += [word] if valid else []
            assert words == expected
            assert cycles >= latency + 2

    run(dut, client, background=[lambda ctx: memory.serve_read(ctx, dut.read),
                                 lambda ctx: memory.serve_write(ctx, dut.write)], cycles=1000)
