# SPDX-License-Identifier: BSD-2-Clause
"""HostPort under cocotb: an independent AXI4-Lite manager, with pauses on all five channels."""

import random
from itertools import cycle

import cocotb
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from hypercast.rtl.config import INTERFACE_VERSION, PRESETS
from hypercast.rtl.control.host_port import HostPort
from hypercast.rtl.layouts import HostRequest
from hypercast.rtl.registers import MAGIC, PHASES, REGISTERS, Space, register
from tests.cocotb.benches import PAUSES, simulate, start

CONFIG = PRESETS["tiny"]
#: The port's inputs other than AXI; they are zero unless a test drives them.
INPUTS = ("response", "response_valid", "resetting", *(
    f"control__{name}" for name in (
        "running", "done", "error", "pc", "busy", "waits", "step", "step_key", "cycles",
        "phase_cycles", "response", "response_valid")))


class Host:
    """Registers by name through AXI4-Lite."""

    def __init__(self, dut, pause):
        self._axi = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "axi_"), dut.clk, dut.rst)
        write, read = self._axi.write_if, self._axi.read_if
        for channel in (write.aw_channel, write.w_channel, write.b_channel, read.ar_channel,
                        read.r_channel):
            if PAUSES[pause] is not None:
                channel.set_pause_generator(cycle(PAUSES[pause]))

    async def read(self, name, response=AxiResp.OKAY):
        result = await self._axi.read(register(name), 4)
        assert result.resp == response, f"reading {name}"
        return int.from_bytes(result.data, "little")

    async def write(self, name, value, response=AxiResp.OKAY):
        result = await self._axi.write(register(name), value.to_bytes(4, "little"))
        assert result.resp == response, f"writing {name}"

    async def at(self, offset):
        """The response to reading byte ``offset``."""
        return (await self._axi.read(offset, 4)).resp


async def host_of(dut, pause):
    for name in INPUTS:
        getattr(dut, name).value = 0
    host = Host(dut, pause)
    await start(dut)
    return host


async def serve_cores(dut, memory):
    """Answer window requests to the cores from ``memory``, after a random time."""
    while True:
        await RisingEdge(dut.clk)
        await ReadOnly()
        if dut.request_valid.value == 0:
            continue
        request = HostRequest.from_bits(int(dut.request.value))
        await ClockCycles(dut.clk, random.randint(1, 20))
        place = request.core, request.space, request.address
        if request.write:
            memory[place] = request.data
        dut.response.value = 0 if request.write else memory.get(place, 0)
        dut.response_valid.value = 1
        await RisingEdge(dut.clk)
        dut.response.value = dut.response_valid.value = 0


async def echo_phase(dut):
    """Phase counter ``i`` reads as ``1000 + i``, one cycle after it was named."""
    while True:
        await RisingEdge(dut.clk)
        dut.control__phase_cycles.value = 1000 + int(dut.control__phase_index.value)


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(pause=list(PAUSES))
async def registers(dut, pause):
    host = await host_of(dut, pause)
    cocotb.start_soon(echo_phase(dut))
    assert await host.read("magic") == MAGIC
    assert await host.read("version") == INTERFACE_VERSION
    assert await host.read("config_hash") == CONFIG.hash
    for name in ("repeat", "core", "space", "address"):
        value = random.getrandbits(32)
        await host.write(name, value)
        assert await host.read(name) == value, name
    for index in range(PHASES):
        assert await host.read(f"phase_{index}") == 1000 + index
    dut.control__cycles.value = 0xAAAA_0001_BBBB_0002
    assert await host.read("cycles_low") == 0xBBBB0002
    dut.control__cycles.value = 0
    assert await host.read("cycles_high") == 0xAAAA0001


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(pause=list(PAUSES))
async def refusals(dut, pause):
    host = await host_of(dut, pause)
    for entry in REGISTERS:
        if entry.access == "r":
            await host.write(entry.name, 1, response=AxiResp.SLVERR)
    assert await host.at(max(entry.offset for entry in REGISTERS) + 4) == AxiResp.SLVERR
    await host.write("space", len(Space))
    await host.read("data", response=AxiResp.SLVERR)
    assert await host.read("address") == 0, "a refused access must not move the window"


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(pause=list(PAUSES))
async def window(dut, pause):
    host = await host_of(dut, pause)
    memory = {}
    cocotb.start_soon(serve_cores(dut, memory))
    await host.write("core", 1)
    await host.write("space", Space.WEIGHTS)
    await host.write("address", 5)
    values = [random.getrandbits(32) for _ in range(12)]
    for value in values:
        await host.write("data", value)
    assert memory == {(1, Space.WEIGHTS, 5 + i): value for i, value in enumerate(values)}
    await host.write("address", 5)
    assert [await host.read("data") for _ in values] == values
    assert await host.read("address") == 5 + len(values)


def test_host_port_under_icarus():
    simulate("icarus", HostPort(CONFIG), module=__name__)
