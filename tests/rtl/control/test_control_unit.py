# SPDX-License-Identifier: BSD-2-Clause
"""ControlUnit: whatever the host says reaches the cores, and what any core says comes back."""

import numpy as np
import pytest

from hypercast.rtl import isa
from hypercast.rtl.config import PRESETS
from hypercast.rtl.control import watchdog
from hypercast.rtl.control.control_unit import ControlUnit
from hypercast.rtl.isa import Engine, Opcode
from hypercast.rtl.registers import ALL_CORES, Control, CoreSpace, Error, Space, Status
from tests.bench import run, shared
from tests.rtl.control.axi_manager import AxiManager
from tests.rtl.control.exponent_model import pack

_CONFIG = PRESETS["tiny"].replace(dimensions=2, program_rows=16, tensors=8)
_CORES = range(_CONFIG.cores)


class Bench:
    """The unit and its host; the cores' ends are the test's."""

    def __init__(self, unit=None, *, bulk=False):
        self.unit = ControlUnit(_CONFIG, bulk=True) if bulk else \
            unit or shared(ControlUnit, _CONFIG)
        self.bulk = bulk
        self.rng = np.random.default_rng(0)
        self.manager = AxiManager(self.unit.axi, self.rng, 0.0)
        self.read, self.write = self.manager.read_register, self.manager.write_register
        self.requests = []  # of the window to the cores, as they come
        self.answers = {}   # by core: what it says in the cycle after a request

    async def select(self, ctx, space, address, core=0):
        for name, value in {"core": core, "space": space, "address": address}.items():
            await self.write(ctx, name, value)

    async def load(self, ctx, *program):
        for row, instruction in enumerate(program):
            await self.select(ctx, Space.PROGRAM, 16 * row)
            for piece in range(isa.INSTRUCTION_WORDS):
                await self.write(ctx, "data", instruction >> 32 * piece & 0xFFFFFFFF)

    async def start(self, ctx, repeat=1):
        await self.write(ctx, "repeat", repeat)
        await self.write(ctx, "control", Control.START)

    async def finish(self, ctx):
        while (status := await self.read(ctx, "status")) & Status.RUNNING:
            pass
        return status

    async def _cores(self, ctx):
        unit = self.unit
        while True:
            _, _, valid, request = await ctx.tick().sample(unit.request_valid, unit.request)
            if valid:
                self.requests.append(request)
            for core in _CORES:
                answers = valid and core in self.answers
                ctx.set(unit.response_valid[core], answers)
                ctx.set(unit.response[core], self.answers[core] if answers else 0)
                if self.bulk:
                    ctx.set(unit.taken[core], valid and not request.all_cores
                            and request.core == core)

    def run(self, program, background=()):
        run(self.unit, program, cycles=5000,
            background=[*self.manager.drivers, self._cores, *background])


@pytest.mark.parametrize("bulk", [False, True], ids=["", "beside a bulk port"])
def test_the_window_reaches_the_cores_and_any_answers(bulk):
    bench = Bench(bulk=bulk)

    async def program(ctx):
        assert await bench.read(ctx, "status") == (Status.BULK if bulk else 0)
        for core in _CORES:
            for value in (1 << 31 | core, 0x5A5A5A5A, 0, 0xFFFFFFFF):
                address = int(bench.rng.integers(1 << 32))
                await bench.select(ctx, Space.FEATURES, address, core)
                bench.answers = {core: value}
                assert await bench.read(ctx, "data") == value
                bench.answers = {core: 0}
                await bench.write(ctx, "data", value)
                read, write = bench.requests
                assert (read.core, read.space, read.address, read.write) == (
                    core, Space.FEATURES, address, 0)
                assert (write.core, write.space, write.address, write.write, write.data) == (
                    core, Space.FEATURES, (address + 1) & 0xFFFFFFFF, 1, value)
                bench.requests.clear()

    bench.run(program)


@pytest.mark.parametrize("bulk", [False, True], ids=["", "beside a bulk port"])
def test_sums_over_all_cores(bulk):
    bench = Bench(bulk=bulk)

    async def program(ctx):
        for number in range(8):
            values = {core: int(bench.rng.integers(1 << 32)) | 1 << 31 for core in _CORES}
            bench.answers = values
            await bench.select(ctx, Space.CORE, CoreSpace.COUNTERS + number, ALL_CORES)
            assert await bench.read(ctx, "data") == sum(values.values()) & 0xFFFFFFFF
            await bench.select(ctx, Space.CORE, CoreSpace.CARRIES + number, ALL_CORES)
            assert await bench.read(ctx, "data") == sum(values.values()) >> 32
            assert [(one.all_cores, one.space, one.address) for one in bench.requests] == [
                (1, Space.CORE, CoreSpace.COUNTERS + number)] * 2
            bench.requests.clear()
            bench.answers = {1: 5}  # one core alone is heard again
            await bench.select(ctx, Space.CORE, CoreSpace.COUNTERS, 1)
            assert await bench.read(ctx, "data") == 5
            bench.requests.clear()

    bench.run(program)


def test_the_controllers_own_spaces_are_no_cores_business():
    bench = Bench()

    async def program(ctx):
        for space, values in ((Space.PROGRAM, [0xFFFFFFFF, 5]), (Space.TENSORS, [0x1FFFF, 0])):
            await bench.select(ctx, space, 0)
            for value in values:
                await bench.write(ctx, "data", value)
            await bench.select(ctx, space, 0)
            assert [await bench.read(ctx, "data") for _ in values] == values
        assert not bench.requests

    bench.run(program)


def test_a_program_reaches_the_cores():
    """Each instruction once, after ``clear``; the counters are still there while it runs."""
    bench = Bench()
    instructions = [isa.encode(Opcode.AGGREGATE, address=0xABCDEF),
                    isa.encode(Opcode.MATMUL, dropout_key=99, phase=3)]
    seen = []

    async def program(ctx):
        await bench.load(ctx, *instructions, isa.encode(Opcode.HALT, step=1))
        await bench.write(ctx, "step_key", 1000)
        bench.answers = {3: 1234}
        ctx.set(bench.unit.busy[1], 1 << Engine.ARRAY)
        await bench.start(ctx)
        await bench.select(ctx, Space.CORE, CoreSpace.COUNTERS, 3)
        assert await bench.read(ctx, "data") == 1234
        ctx.set(bench.unit.busy[1], 0)
        assert await bench.finish(ctx) == Status.DONE
        assert await bench.read(ctx, "step") == 1
        assert [word for word, _ in seen[1:]] == instructions and seen[0] == "clear"
        assert seen[2][1] == 1099

    async def watch(ctx):
        unit = bench.unit
        while True:
            _, _, valid, issue, clear = await ctx.tick().sample(
                unit.issue_valid, unit.issue, unit.clear)
            if clear:
                seen.append("clear")
            if valid:
                seen.append((issue.instruction, issue.dropout_key))

    bench.run(program, [watch])


@pytest.mark.parametrize("core", _CORES)
def test_every_core_is_waited_for(core):
    """HALT waits for whatever is busy; a drain's peak is the largest of all cores."""
    bench = Bench()

    async def program(ctx):
        busy, peak = bench.unit.busy, bench.unit.peak
        await bench.select(ctx, Space.TENSORS, 0)
        for _ in range(4):
            await bench.write(ctx, "data", pack(0, None))
        await bench.load(ctx, isa.encode(Opcode.DRAIN, o=3, peak_of=3, open=1),
                         isa.encode(Opcode.HALT))
        for engine in Engine:
            for other in _CORES:
                ctx.set(peak[other], 1)
            ctx.set(peak[core], 33 + engine)
            ctx.set(busy[core], 1 << engine)
            await bench.start(ctx)
            for _ in range(4):
                assert await bench.read(ctx, "status") == Status.RUNNING
            assert await bench.read(ctx, "busy") == 1 << engine
            ctx.set(busy[core], 0)
            assert await bench.finish(ctx) == Status.DONE
            await bench.select(ctx, Space.TENSORS, 3)
            assert await bench.read(ctx, "data") >> 8 == 1 << 8 | 33 + engine
            await bench.select(ctx, Space.TENSORS, 3)
            await bench.write(ctx, "data", 0)
        ctx.set(busy[core], 0xFF)
        await ctx.tick().repeat(10)
        assert await bench.read(ctx, "busy") == 0xFF

    bench.run(program)


@pytest.mark.parametrize("core", _CORES)
def test_every_core_reports_its_errors(core):
    bench = Bench()

    async def program(ctx):
        for bit, error in enumerate(
                (Error.NETWORK, Error.LINK, Error.MEMORY, Error.ACCUMULATOR)):
            ctx.set(bench.unit.error[core], 1 << bit)
            await ctx.tick()
            ctx.set(bench.unit.error[core], 0)
            assert await bench.read(ctx, "error") == error
            await bench.write(ctx, "error", error)
            assert await bench.read(ctx, "error") == 0

    bench.run(program)


def test_progress_of_any_core_keeps_a_program_running(monkeypatch):
    monkeypatch.setattr(watchdog, "PATIENCE", 64)
    bench = Bench(ControlUnit(_CONFIG))

    async def program(ctx):
        await bench.load(ctx, isa.encode(Opcode.MATMUL), isa.encode(Opcode.HALT))
        ctx.set(bench.unit.busy[0], 1 << Engine.ARRAY)
        await bench.start(ctx)
        for core in _CORES:
            ctx.set(bench.unit.progress[core], 1)
            await ctx.tick().repeat(150)
            assert await bench.read(ctx, "status") == Status.RUNNING
            ctx.set(bench.unit.progress[core], 0)
        assert await bench.finish(ctx) == Status.ERROR
        assert await bench.read(ctx, "error") == Error.STALLED

    bench.run(program)
