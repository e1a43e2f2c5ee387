# SPDX-License-Identifier: BSD-2-Clause
"""ControlPort carries every bit between the registers and the controller."""

from collections import Counter

import numpy as np
import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.axi_lite import Response
from hypercast.rtl.control.control_port import ERROR_WIDTH
from hypercast.rtl.control.host_port import HostPort
from hypercast.rtl.registers import PHASES, Control, Error, Space, Status, register
from tests.bench import run, shared
from tests.rtl.control.axi_manager import AxiManager

_CONFIG = PRESETS["tiny"]
#: Bits of what the controller shows in the register of the same name.
_SHOWN = {"pc": (_CONFIG.program_rows - 1).bit_length(), "busy": 8, "waits": 8, "step": 32,
          "step_key": 32, "error": ERROR_WIDTH}
_STROBES = ("start", "stop", "step_write", "step_key_write", "request_valid")


class Bench:
    """A host, and a controller of whom only the port is there."""

    def __init__(self):
        self.host = shared(HostPort, _CONFIG)
        self.port = self.host.control
        self.manager = AxiManager(self.host.axi, np.random.default_rng(0), 0.0)
        self.read, self.write = self.manager.read_register, self.manager.write_register
        self.phases = [0] * PHASES
        self.answer = None      # to a request
        self.strobes = Counter()  # how often each was high
        self.values = {}          # what was valid with it
        self.errors = []          # what was to be set and cleared

    async def _controller(self, ctx):
        port = self.port
        with_them = [port.entry, port.repeat, port.data, port.request]
        while True:
            _, _, index, cleared, set_, *sampled = await ctx.tick().sample(
                port.phase_index, port.error_clear, port.error_set, *with_them,
                *(getattr(port, name) for name in _STROBES))
            ctx.set(port.phase_cycles, self.phases[index])
            if cleared or set_:
                self.errors.append((set_, cleared))
            for name, high in zip(_STROBES, sampled[len(with_them):], strict=True):
                if high:
                    self.strobes[name] += 1
                    self.values[name] = sampled[:len(with_them)]
            answers = self.answer is not None and sampled[-1]
            ctx.set(port.response_valid, answers)
            ctx.set(port.response, self.answer if answers else 0)

    def run(self, program):
        run(self.host, program, cycles=2000,
            background=[*self.manager.drivers, self._controller])


@pytest.mark.parametrize("seed", range(2))
def test_what_the_controller_shows(seed):
    bench = Bench()
    rng = np.random.default_rng(seed)

    def draw(width):
        return int(rng.integers(1 << width, dtype=np.uint64)) if seed else (1 << width) - 1

    async def program(ctx):
        expected = {name: draw(width) for name, width in _SHOWN.items()}
        for name, value in expected.items():
            ctx.set(getattr(bench.port, name), value)
        cycles = draw(63) << 1 | 1
        ctx.set(bench.port.cycles, cycles)
        expected |= {"cycles_low": cycles & 0xFFFFFFFF, "cycles_high": cycles >> 32}
        bench.phases = [draw(32) for _ in range(PHASES)]
        expected |= {f"phase_{index}": value for index, value in enumerate(bench.phases)}
        for name, value in expected.items():
            assert await bench.read(ctx, name) == value, name
        assert not bench.strobes and not bench.errors

    bench.run(program)


def test_status():
    bench = Bench()

    async def program(ctx):
        for name, value, flag in (
                ("running", 1, Status.RUNNING), ("done", 1, Status.DONE),
                *(("error", 1 << bit, Status.ERROR) for bit in range(ERROR_WIDTH))):
            ctx.set(getattr(bench.port, name), value)
            assert await bench.read(ctx, "status") == flag
            ctx.set(getattr(bench.port, name), 0)

    bench.run(program)


@pytest.mark.parametrize("value", [0xFFFFFFFF, 0xDEADBEEF, 0x5A5A5A5A])
def test_what_the_host_writes(value):
    bench = Bench()

    async def program(ctx):
        await bench.write(ctx, "entry", value)
        await bench.write(ctx, "repeat", value)
        assert not bench.strobes
        for name, written, strobe in (
                ("control", Control.START, "start"), ("control", Control.STOP, "stop"),
                ("step", value, "step_write"), ("step_key", value, "step_key_write")):
            await bench.write(ctx, name, written)
            assert bench.strobes == {strobe: 1}
            entry, repeat, data, _ = bench.values[strobe]
            assert (entry, repeat) == (value % _CONFIG.program_rows, value)
            assert strobe[:4] != "step" or data == value
            bench.strobes.clear()
        for bit in range(ERROR_WIDTH):
            await bench.write(ctx, "error", 1 << bit)
        assert bench.errors == [(0, 1 << bit) for bit in range(ERROR_WIDTH)]

    bench.run(program)


@pytest.mark.parametrize("space", [Space.PROGRAM, Space.TENSORS])
def test_window(space):
    """The window's requests have all bits and are answered; a space that is none is an error."""
    bench = Bench()

    async def program(ctx):
        for address, value in ((0xFFFFFFFE, 0xFFFFFFFF), (0x5A5A5A5A, 0x8000_0001)):
            await bench.write(ctx, "space", space)
            await bench.write(ctx, "address", address)
            bench.answer = value
            for write in (0, 1):
                if write:
                    await bench.write(ctx, "data", value)
                else:
                    assert await bench.read(ctx, "data") == value
                *_, request = bench.values["request_valid"]
                assert (request.space, request.address, request.write) == (
                    space, address + write, write)
                assert not write or request.data == value
        assert bench.strobes == {"request_valid": 4} and not bench.errors
        await bench.write(ctx, "space", 7)
        assert (await bench.manager.read(ctx, register("data")))[0] == Response.SLVERR
        assert bench.errors == [(Error.WINDOW, 0)]

    bench.run(program)
