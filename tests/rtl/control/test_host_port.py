# SPDX-License-Identifier: BSD-2-Clause
"""HostPort and Controller, driven through AXI4-Lite."""

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring

from hypercast.rtl import isa
from hypercast.rtl.config import INTERFACE_VERSION, PRESETS
from hypercast.rtl.control.axi_lite import Response
from hypercast.rtl.control.controller import Controller
from hypercast.rtl.control.host_port import HostPort
from hypercast.rtl.control.window import TIMEOUT
from hypercast.rtl.isa import STEP_KEY_INCREMENT, Engine, Opcode
from hypercast.rtl.registers import (
    MAGIC,
    REGISTERS,
    Control,
    CoreSpace,
    Error,
    Space,
    Status,
    register,
)
from tests.bench import run
from tests.rtl.control.axi_manager import AxiManager

_CONFIG = PRESETS["tiny"].replace(program_rows=16, tensors=8)
_OK, _FAILED = Response.OKAY, Response.SLVERR


class Chip(wiring.Component):
    """Both blocks; the cores' ends are the test's."""

    def __init__(self, config):
        self.host = HostPort(config)
        self.controller = Controller(config)
        super().__init__({})

    def elaborate(self, platform):
        m = Module()
        m.submodules.host = self.host
        m.submodules.controller = self.controller
        wiring.connect(m, self.host.control, self.controller.host)
        return m


class Host:
    """The chip, its host, and cores that keep what is written to them."""

    def __init__(self, delay, seed=0):
        self.rng = np.random.default_rng(seed)
        self.chip = Chip(_CONFIG)
        self.manager = AxiManager(self.chip.host.axi, self.rng, delay)
        self.memory = {}
        self.background = [*self.manager.drivers, self._cores]

    async def _cores(self, ctx):
        """Answer requests below address 2000, after a random time."""
        host = self.chip.host
        while True:
            _, _, valid, request = await ctx.tick().sample(host.request_valid, host.request)
            if not valid or request.address >= 2000:
                continue
            await ctx.tick().repeat(int(self.rng.integers(1, 20)))
            key = request.core, request.space, request.address
            if request.write:
                self.memory[key] = request.data
            ctx.set(host.response, self.memory.get(key, 0))
            ctx.set(host.response_valid, 1)
            await ctx.tick()
            ctx.set(host.response, 0)
            ctx.set(host.response_valid, 0)

    async def read(self, ctx, name, expected=_OK):
        response, value = await self.manager.read(ctx, register(name))
        assert response == expected, name
        return value

    async def write(self, ctx, name, value, expected=_OK):
        assert await self.manager.write(ctx, register(name), value) == expected, name

    async def select(self, ctx, space, address, core=0):
        for name, value in {"core": core, "space": space, "address": address}.items():
            await self.write(ctx, name, value)

    async def load(self, ctx, program):
        for row, instruction in enumerate(program):
            await self.select(ctx, Space.PROGRAM, 16 * row)
            for piece in range(isa.INSTRUCTION_WORDS):
                await self.write(ctx, "data", instruction >> 32 * piece & 0xFFFFFFFF)

    async def finish(self, ctx):
        while (status := await self.read(ctx, "status")) & Status.RUNNING:
            pass
        return status

    def run(self, bench, cycles=100_000):
        run(self.chip, bench, background=self.background, cycles=cycles)


@pytest.mark.parametrize("delay", [0.0, 0.5])
def test_registers(delay):
    host = Host(delay)
    reset = {entry.name: entry.reset_value(_CONFIG) for entry in REGISTERS if entry.name != "data"}
    assert reset["version"] == INTERFACE_VERSION and reset["config_hash"] == _CONFIG.hash

    async def bench(ctx):
        for name, value in reset.items():
            assert await host.read(ctx, name) == value, name
        for entry in REGISTERS:
            if entry.access == "r":
                await host.write(ctx, entry.name, 0xFFFFFFFF, _FAILED)
        values = {name: int(host.rng.integers(1 << 32)) for name in (
            "repeat", "step", "step_key", "core", "space", "address", "limit")}
        values["entry"] = 13
        for name, value in values.items():
            await host.write(ctx, name, value)
        for name, value in (reset | values).items():
            assert await host.read(ctx, name) == value, name
        assert await host.read(ctx, "control") == 0
        assert await host.read(ctx, "status") == 0

    host.run(bench)


def test_unmapped_addresses_and_partial_writes_fail():
    host = Host(0.2)
    mapped = {entry.offset for entry in REGISTERS}

    async def bench(ctx):
        unmapped = [offset for offset in range(0, 0x100, 4) if offset not in mapped]
        for offset in [*unmapped, 0x100, 0x800, 0xFFC]:
            assert await host.read(ctx, "magic") == MAGIC  # which is not what comes next
            assert await host.manager.read(ctx, offset) == (_FAILED, 0)
            assert await host.manager.write(ctx, offset, 0) == _FAILED
        for strobes in range(15):
            assert await host.manager.write(ctx, register("step"), 9, strobes) == _FAILED
        assert await host.read(ctx, "step") == 0
        assert await host.read(ctx, "error") == 0

    host.run(bench)


def test_window_counts_up_and_reaches_every_space():
    host = Host(0.3)

    async def bench(ctx):
        contents = {}
        for space in Space:
            for core in ((0,) if space < Space.FEATURES else range(2)):
                start = 0 if space == Space.TENSORS else int(host.rng.integers(2)) * 16
                values = [int(value) for value in host.rng.integers(1 << 17, size=7)]
                await host.select(ctx, space, start, core)
                for value in values:
                    await host.write(ctx, "data", value)
                assert await host.read(ctx, "address") == start + 7
                contents[space, core, start] = values
        for (space, core, start), values in contents.items():
            await host.select(ctx, space, start, core)
            assert [await host.read(ctx, "data") for _ in values] == values
        for (space, core, start), values in contents.items():
            if space >= Space.FEATURES:
                assert [host.memory[core, space, start + index] for index in range(7)] == values
        assert await host.read(ctx, "error") == 0

    host.run(bench)


def test_window_errors():
    host = Host(0.0)

    async def bench(ctx):
        async def fails(space, address, core):
            await host.select(ctx, space, address, core)
            await host.read(ctx, "data", _FAILED)
            await host.write(ctx, "data", 1, _FAILED)
            assert await host.read(ctx, "address") == address
            assert await host.read(ctx, "error") == Error.WINDOW
            assert await host.read(ctx, "status") == Status.ERROR
            await host.write(ctx, "error", 0xFFFFFFFF & ~Error.WINDOW)
            assert await host.read(ctx, "error") == Error.WINDOW
            await host.write(ctx, "error", Error.WINDOW)
            assert await host.read(ctx, "status") == 0

        await fails(6, 0, 0)
        await fails(Space.FEATURES, 0, 2)
        await fails(Space.PROGRAM, 16 * _CONFIG.program_rows, 0)
        await fails(Space.FEATURES, 2000, 0)  # exists, but does not answer

    host.run(bench, cycles=8 * TIMEOUT)


def test_run_a_program():
    host = Host(0.2)
    controller = host.chip.controller

    async def bench(ctx):
        await host.load(ctx, [
            isa.encode(Opcode.MATMUL, dropout_key=1, phase=1),
            isa.encode(Opcode.DRAIN, o=3, peak_of=3, open=1, phase=2),
            isa.encode(Opcode.HALT, step=1)])
        assert await host.read(ctx, "pc") == 0
        await host.write(ctx, "step", 7)
        await host.write(ctx, "repeat", 20)
        await host.write(ctx, "control", Control.START)
        assert await host.finish(ctx) == Status.DONE
        assert await host.read(ctx, "step") == 27
        assert await host.read(ctx, "step_key") == 20 * STEP_KEY_INCREMENT % 2**32
        cycles = await host.read(ctx, "cycles_low")
        assert cycles == sum([await host.read(ctx, f"phase_{index}") for index in range(16)])
        assert await host.read(ctx, "phase_1") > 20 and await host.read(ctx, "phase_2") > 20

    async def watch(ctx):
        keys = []
        while len(keys) < 20:
            _, _, valid, issue = await ctx.tick().sample(controller.issue_valid, controller.issue)
            if valid and issue.instruction & 0xF == Opcode.MATMUL:
                keys.append(issue.dropout_key)
        assert keys == [(1 + step * STEP_KEY_INCREMENT) % 2**32 for step in range(20)]

    run(host.chip, bench, watch, background=host.background)


def test_while_a_program_runs():
    """It can be watched and stopped; the window shows counters and takes row counts."""
    host = Host(0.2)
    host.memory = {(1, Space.CORE, CoreSpace.COUNTERS + 3): 1234}

    async def bench(ctx):
        await host.load(ctx, [isa.encode(Opcode.AGGREGATE), isa.encode(Opcode.HALT)])
        ctx.set(host.chip.controller.busy[0], 1 << Engine.REDUCTION)
        await host.write(ctx, "control", Control.START)
        assert await host.read(ctx, "status") == Status.RUNNING
        while await host.read(ctx, "pc") != 1:
            pass
        while await host.read(ctx, "busy") != 1 << Engine.REDUCTION:
            pass
        assert await host.read(ctx, "waits") == 1 << Engine.REDUCTION
        await host.select(ctx, Space.CORE, CoreSpace.COUNTERS + 3, 1)
        assert await host.read(ctx, "data") == 1234
        await host.select(ctx, Space.CORE, CoreSpace.ROWS + 5, 1)
        await host.write(ctx, "data", 77)
        assert host.memory[1, Space.CORE, CoreSpace.ROWS + 5] == 77
        await host.select(ctx, Space.PROGRAM, 0)
        await host.read(ctx, "data", _FAILED)
        assert await host.read(ctx, "status") == Status.RUNNING | Status.ERROR
        first = await host.read(ctx, "cycles_low")
        assert await host.read(ctx, "cycles_low") > first
        assert await host.read(ctx, "cycles_high") == 0
        await host.write(ctx, "control", Control.STOP)
        assert await host.read(ctx, "status") & Status.RUNNING
        ctx.set(host.chip.controller.busy[0], 0)
        assert await host.finish(ctx) == Status.ERROR
        await host.write(ctx, "error", Error.WINDOW)
        assert await host.read(ctx, "status") == 0

    host.run(bench)


def test_reading_the_cycles_latches_their_high_half():
    port = HostPort(_CONFIG)
    manager = AxiManager(port.axi, np.random.default_rng(0), 0.1)

    async def bench(ctx):
        ctx.set(port.control.cycles, 0x1_FFFFFFFF)
        assert await manager.read(ctx, register("cycles_low")) == (_OK, 0xFFFFFFFF)
        ctx.set(port.control.cycles, 0x2_00000000)
        assert await manager.read(ctx, register("cycles_high")) == (_OK, 1)
        assert await manager.read(ctx, register("cycles_low")) == (_OK, 0)
        assert await manager.read(ctx, register("cycles_high")) == (_OK, 2)

    run(port, bench, background=manager.drivers)
