# SPDX-License-Identifier: BSD-2-Clause
"""Bridge: bytes in and bytes out, against its model."""

import random

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import Out, connect, flipped

from hypercast.host.runtime.serial.bridge_model import BridgeModel
from hypercast.host.runtime.serial.frames import encode
from hypercast.host.transport.transport import BytePort, Transport
from hypercast.rtl.control.axi_lite import AxiLiteSubordinate, RegisterBus
from hypercast.rtl.serial.bridge import Bridge
from hypercast.rtl.serial.protocol import AccessKind, FrameKind, access_word, header_word
from hypercast.sim.line_faults import FaultyLine
from tests.bench import get, run


class _Board(wiring.Component):
    """A bridge, and registers instead of a chip."""

    def __init__(self):
        self.bridge = Bridge(5)
        super().__init__({"bus": Out(RegisterBus())})

    def elaborate(self, platform):
        m = Module()
        m.submodules.bridge = self.bridge
        m.submodules.port = port = AxiLiteSubordinate()
        connect(m, self.bridge.axi, port.axi)
        connect(m, port.bus, flipped(self.bus))
        return m


class Registers(Transport):
    """Reading gives the number of reads so far."""

    def __init__(self):
        self.log, self.reads = [], 0

    def read(self, address):
        self.log.append(address)
        self.reads += 1
        return self.reads

    def write(self, address, value):
        self.log.append((address, value))

    def reset(self):
        self.log.append("reset")

    def wait(self, cycles):
        pass


class Record(BytePort):
    """Keeps what is sent."""

    def __init__(self):
        self.data = b""

    def send(self, data):
        self.data += data

    def receive(self):
        return b""


def bytes_of_commands(rng, rate):
    """What comes over a line with faults from a host that repeats itself."""
    record = Record()
    line = FaultyLine(record, rng, rate)
    line.send(encode([header_word(FrameKind.OPEN, 0, 5)]))
    for number in range(40):
        values = [rng.choice([0, 0x7E7D, rng.randrange(1 << 32)]) for _ in range(rng.randrange(5))]
        words = [access_word(AccessKind.WRITE, 0x44, len(values)), *values,
                 access_word(AccessKind.READ, 0x30, rng.randrange(9))]
        if number % 20 == 9:
            words = [access_word(AccessKind.RESET, 0, 1)]
        for _ in range(rng.choice([1, 1, 2])):
            line.send(encode([header_word(FrameKind.COMMAND, number, 5), *words]))
            line.receive()
    # Garbage may have been left; a flag ends it, and a last frame shows that all is well.
    record.send(encode([header_word(FrameKind.OPEN, 0, 6)]))
    return record.data


@pytest.mark.parametrize(("rate", "stall"), [
    (0.0, 0.7), (0.003, 0.3), *(
        pytest.param(rate, 0.0, marks=pytest.mark.slow) for rate in (0.0, 0.0005))])
def test_replies(rate, stall):
    data = bytes_of_commands(random.Random(7), rate)
    model = BridgeModel(Registers())
    model.send(data)
    expected, registers = model._output, Registers()
    dut = _Board()
    bridge = dut.bridge
    resets = []

    async def send(ctx):
        for byte in data:
            ctx.set(bridge.data, byte)
            ctx.set(bridge.valid, 1)
            await ctx.tick()
            ctx.set(bridge.valid, 0)
            for _ in range(9):  # a byte of a fast line
                await ctx.tick()

    async def receive(ctx):
        rng = np.random.default_rng(1)
        assert bytes(await get(ctx, bridge.o, len(expected), rng, stall)) == expected

    async def serve(ctx):
        bus = dut.bus
        while True:
            _, _, valid, write, address, value = await ctx.tick().sample(
                bus.valid, bus.write, bus.address, bus.data)
            if valid:
                if write:
                    registers.write(4 * address, value)
                else:
                    ctx.set(bus.result, registers.read(4 * address))
                ctx.set(bus.done, 1)
                await ctx.tick()
                ctx.set(bus.done, 0)

    async def watch_reset(ctx):
        cycles = 0
        while True:
            _, _, active = await ctx.tick().sample(bridge.chip_reset)
            if cycles and not active:
                resets.append(cycles)
                registers.log.append("reset")
            cycles = cycles + 1 if active else 0

    run(dut, send, receive, background=[serve, watch_reset], cycles=300_000)
    assert registers.log == ["reset", *model.chip.log]
    assert resets == [5] * len(resets)
