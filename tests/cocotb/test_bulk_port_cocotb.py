# SPDX-License-Identifier: BSD-2-Clause
"""The bulk port of a whole chip under cocotb: an independent AXI4 manager, beside the window."""

import random
from itertools import cycle

import cocotb
from cocotbext.axi import (
    AxiBurstType,
    AxiBus,
    AxiLiteBus,
    AxiLiteMaster,
    AxiMaster,
    AxiReadBus,
    AxiResp,
    AxiWriteBus,
)

from hypercast.rtl.chip import Chip
from hypercast.rtl.config import PRESETS
from hypercast.rtl.registers import (
    Control,
    Space,
    Status,
    bulk_address,
    register,
    striped_address,
)
from hypercast.sim.cocotb_transport import quiet
from tests.cocotb.benches import PAUSES, simulate, start

#: Words of 32 bits, four in a beat; a channel is longer than a burst may be.
CONFIG = PRESETS["tiny"].replace(program_rows=32)
BYTES = 4
DEPTHS = {Space.FEATURES: CONFIG.channel_words, Space.WEIGHTS: CONFIG.weight_rows}


class Host:
    """Both ports of the chip."""

    def __init__(self, dut, pause="free"):
        self._lite = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "axi_"), dut.clk, dut.rst)
        self.bulk = AxiMaster(AxiBus(AxiWriteBus.from_prefix(dut, "bulk__write_"),
                                     AxiReadBus.from_prefix(dut, "bulk__read_")), dut.clk, dut.rst)
        quiet(self._lite)
        quiet(self.bulk)
        write, read = self.bulk.write_if, self.bulk.read_if
        for channel in (write.aw_channel, write.w_channel, write.b_channel, read.ar_channel,
                        read.r_channel):
            if PAUSES[pause] is not None:
                channel.set_pause_generator(cycle(PAUSES[pause]))

    async def get(self, name):
        return int.from_bytes((await self._lite.read(register(name), 4)).data, "little")

    async def put(self, name, value):
        assert (await self._lite.write(register(name), value.to_bytes(4, "little"))).resp == \
            AxiResp.OKAY

    async def select(self, core, space, address):
        for name, value in (("core", core), ("space", space), ("address", address)):
            await self.put(name, value)

    async def write(self, place, data, response=AxiResp.OKAY, **options):
        assert (await self.bulk.write(place, data, **options)).resp == response, hex(place)

    async def read(self, place, count, response=AxiResp.OKAY, **options):
        found = await self.bulk.read(place, count, **options)
        assert found.resp == response, hex(place)
        return found.data


async def host_of(dut, pause="free"):
    host = Host(dut, pause)
    await start(dut)
    return host


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(pause=list(PAUSES))
async def memories(dut, pause):
    """Transfers of any length, several at a time; the window sees the same words."""
    host = await host_of(dut, pause)
    assert await host.get("status") == Status.BULK
    for space, depth in DEPTHS.items():
        core = random.randrange(CONFIG.cores)
        size = depth * BYTES
        held = bytearray(random.randbytes(size))
        await host.write(bulk_address(core, space, 0), held)
        for _ in range(3):
            count = random.randrange(1, 200) % depth
            first = random.randrange(depth - count) * BYTES
            part = random.randbytes(count * BYTES)
            held[first:first + len(part)] = part
            writes = [cocotb.start_soon(host.write(
                bulk_address(core, space, first + offset), part[offset:offset + 64]))
                for offset in range(0, len(part), 64)]
            for write in writes:
                await write
        assert await host.read(bulk_address(core, space, 0), size) == held
        for index in (0, depth // 2, depth - 1):
            await host.select(core, space, index)
            assert await host.get("data") == int.from_bytes(
                held[index * BYTES:][:BYTES], "little")
            await host.select(core, space, index)
            await host.put("data", index)
            found = await host.read(bulk_address(core, space, index * BYTES), BYTES)
            assert int.from_bytes(found, "little") == index


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(pause=list(PAUSES))
async def words_of_all_cores(dut, pause):
    """Transfers of any length, several at a time; each core has the words that are its own."""
    host = await host_of(dut, pause)
    for space in (Space.FEATURES, Space.GRADIENTS):
        size = CONFIG.cores * 512 * BYTES
        held = bytearray(random.randbytes(size))
        await host.write(striped_address(space, 0), held)
        for _ in range(3):
            count = random.randrange(1, 200)
            first = random.randrange(size // BYTES - count) * BYTES
            part = random.randbytes(count * BYTES)
            held[first:first + len(part)] = part
            writes = [cocotb.start_soon(host.write(
                striped_address(space, first + offset), part[offset:offset + 64]))
                for offset in range(0, len(part), 64)]
            for write in writes:
                await write
        for core in range(CONFIG.cores):
            expected = b"".join(held[place:place + BYTES] for place in range(
                core * BYTES, size, CONFIG.cores * BYTES))
            assert await host.read(bulk_address(core, space, 0), len(expected)) == expected


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def refusals(dut):
    """Places that are not there, parts of words, other bursts; and both ports go on after it."""
    host = await host_of(dut)
    good = bulk_address(0, Space.FEATURES, 64)
    await host.write(good, bytes(range(64)))
    for core, space, offset in (
            (CONFIG.cores, Space.FEATURES, 0), (0, Space.PROGRAM, 0), (0, Space.CORE, 0),
            (0, Space.FEATURES, CONFIG.channel_words * BYTES), (0, Space.WEIGHTS, 1 << 20)):
        place = bulk_address(core, space, offset)
        await host.write(place, bytes(16), AxiResp.SLVERR)
        await host.read(place, 16, AxiResp.SLVERR)
    await host.read(striped_address(Space.FEATURES, 0), 16, AxiResp.SLVERR)
    behind = CONFIG.cores * CONFIG.channel_words * BYTES
    for place in (striped_address(Space.FEATURES, behind), striped_address(Space.FEATURES, 1) << 1):
        await host.write(place, bytes(16), AxiResp.SLVERR)
    await host.write(striped_address(Space.FEATURES, 2), bytes(4), AxiResp.SLVERR)
    await host.write(good + 1, bytes(2), AxiResp.SLVERR)
    await host.write(good, bytes(16), AxiResp.SLVERR, burst=AxiBurstType.FIXED)
    await host.read(good, 16, AxiResp.SLVERR, size=2)
    assert await host.read(good, 64) == bytes(range(64))


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def while_a_reset_goes_on(dut):
    """Transfers are refused, and what was written before is there afterwards."""
    host = await host_of(dut)
    place, data = bulk_address(1, Space.GRADIENTS, 0), random.randbytes(256)
    await host.write(place, data)
    await host.put("control", Control.RESET)
    await host.write(place, bytes(256), AxiResp.SLVERR)
    await host.read(place, 256, AxiResp.SLVERR)
    while await host.get("status") & Status.RESETTING:
        pass
    assert await host.read(place, 256) == data


def test_bulk_port_under_icarus():
    simulate("icarus", Chip(CONFIG, bulk=True), module=__name__)
