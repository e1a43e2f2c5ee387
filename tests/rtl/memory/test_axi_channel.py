# SPDX-License-Identifier: BSD-2-Clause
"""AxiChannel: right words, legal bursts, full rate, faithful idle, and errors reported."""

import numpy as np
import pytest
from amaranth.hdl import Module, ResetInserter, Signal

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import BURST
from hypercast.rtl.memory.axi4 import BOUNDARY, Response
from hypercast.rtl.memory.axi_channel import AxiChannel
from tests.bench import get, put, run
from tests.rtl.flips import count_cycles
from tests.rtl.memory.axi_memory import AxiMemory
from tests.rtl.memory.channel_bench import check_contents, time_bursts

NARROW = Config(lanes=2, element_width=8, channel_words=64)  # 256 bytes
PAGED = Config(lanes=2, element_width=8, channel_words=4096)  # 4 times 4 KiB
WIDE = Config(lanes=16, element_width=16, channel_words=512)  # the same
HIGH = 0x2_4000_0000


def channel(config, seed=0, base=HIGH, **memory):
    """An ``AxiChannel`` and its memory, for ``bench`` to run."""
    dut = AxiChannel(config, 34)
    memory = AxiMemory(read=dut.axi.read, write=dut.axi.write, base=base,
                       words=config.channel_words, rng=np.random.default_rng(seed), **memory)

    async def place(ctx):
        ctx.set(dut.base, base)

    return dut, memory, [place, *memory.drivers]


def write_all(dut, writes, rng=None, idle=0.0):
    """Testbench: write ``(address, data)`` pairs and wait for ``idle``."""
    async def bench(ctx):
        await put(ctx, dut.channel.write,
                  [{"address": address, "data": data} for address, data in writes], rng, idle)
        while not ctx.get(dut.channel.idle):
            await ctx.tick()
    return bench


@pytest.mark.grid
@pytest.mark.parametrize("config", [NARROW, WIDE], ids=lambda config: f"{config.word_width}bit")
@pytest.mark.parametrize(("latency", "stall"), [(1, 0.0), (30, 0.0), (1, 0.5), (30, 0.3)])
def test_contents(config, latency, stall):
    dut, _, background = channel(config, latency, latency=latency, stall=stall)
    check_contents(dut, config, latency, stall, stall, rounds=3, background=background)


@pytest.mark.parametrize("config", [PAGED, WIDE], ids=lambda config: f"{config.word_width}bit")
def test_reads_at_boundaries(config):
    """Every length at every distance: one burst, or two that meet at the boundary."""
    page = BOUNDARY * 8 // config.word_width
    dut, memory, background = channel(config, latency=5)
    memory.contents[:] = np.arange(config.channel_words) + 1
    cases = [(start, length) for length in range(1, BURST + 1)
             for start in range(2 * page - BURST, 2 * page + 2)]
    expected = [word + 1 for start, length in cases for word in range(start, start + length)]

    async def receive(ctx):
        assert await get(ctx, dut.channel.read_data, len(expected)) == expected

    requests = [{"address": start, "length": length} for start, length in cases]
    run(dut, lambda ctx: put(ctx, dut.channel.read_request, requests), receive,
        background=background)
    crossing = sum(start < 2 * page < start + length for start, length in cases)
    assert len(memory.reads) == len(cases) + crossing


@pytest.mark.grid
@pytest.mark.parametrize("config", [PAGED, WIDE], ids=lambda config: f"{config.word_width}bit")
@pytest.mark.parametrize(("idle", "stall"), [(0.0, 0.0), (0.2, 0.2), (0.9, 0.0), (0.0, 0.7)])
def test_runs_of_writes(config, idle, stall):
    """Any mixture of runs arrives, in order of acceptance."""
    rng = np.random.default_rng(round(100 * idle + stall))
    dut, memory, background = channel(config, latency=9, stall=stall)
    expected = memory.contents.copy()
    writes = []
    for _ in range(40):
        length = int(rng.choice([1, 1, 2, 15, 16, 17, 40]))
        start = int(rng.integers(config.channel_words - length + 1))
        for address in range(start, start + length):
            expected[address] = int(rng.integers(1 << 32))
            writes.append((address, expected[address]))
    run(dut, write_all(dut, writes, rng, idle), background=background)
    assert (memory.contents == expected).all()


def test_writes_become_bursts():
    """As long as they may be: 16 words, or up to a boundary."""
    dut, memory, background = channel(WIDE)
    words = [*range(120, 180), 200, 202, 203]
    run(dut, write_all(dut, [(word, 1) for word in words]), background=background)
    assert memory.writes == [
        (120, 8), (128, 16), (144, 16), (160, 16), (176, 4), (200, 1), (202, 2)]


@pytest.mark.parametrize(("length", "latency"), [(16, 64), (16, 500), (1, 20), (1, 56)])
def test_reads_at_full_rate(length, latency):
    """A word per cycle, if no more than 64 bursts must be under way; two cycles more latency."""
    number = 960
    dut, memory, background = channel(WIDE, latency=latency)
    times = time_bursts(dut, [length] * (number // length), background=background)
    assert times == (latency + 2, latency + 2 + number - 1)
    assert memory.most_reads >= latency // length


def time_writes(addresses, latency):
    """Cycles until the last word was taken."""
    dut, memory, background = channel(WIDE, latency=latency)
    cycles = 0

    async def count(ctx):
        nonlocal cycles
        while True:
            await ctx.tick()
            cycles += 1

    writes = [{"address": address, "data": address} for address in addresses]
    run(dut, lambda ctx: put(ctx, dut.channel.write, writes), background=[*background, count])
    return cycles, memory


@pytest.mark.parametrize("addresses", [range(512), list(range(0, 512, 2)) * 2],
                         ids=["rising", "scattered"])
def test_writes_at_full_rate(addresses):
    cycles, _ = time_writes(addresses, latency=55)
    assert cycles == len(addresses)


@pytest.mark.parametrize("lengths", [[1] * 200, [16] * 10 + [1] * 190, [16, 1, 1] * 80])
def test_outstanding_bursts_are_bounded(lengths):
    """A burst is over with its last word, however many it has."""
    dut, memory, background = channel(WIDE, latency=400)
    time_bursts(dut, lengths, background=background)
    assert memory.most_reads == 64


def test_outstanding_writes_are_bounded():
    _, memory = time_writes(list(range(0, 400, 2)), latency=400)
    assert memory.most_writes == 64


def test_idle_waits_for_the_response():
    """Low from the cycle after a word was taken until the memory has acknowledged it."""
    dut, memory, background = channel(WIDE, latency=50)
    low = 0

    async def bench(ctx):
        nonlocal low
        assert ctx.get(dut.channel.idle)
        await put(ctx, dut.channel.write, [{"address": 3, "data": 7}])
        assert not ctx.get(dut.channel.idle)
        while not ctx.get(dut.channel.idle):
            await ctx.tick()
            low += 1
        assert memory.contents[3] == 7

    run(dut, bench, background=background)
    assert low > 50


@pytest.mark.parametrize("response", [Response.SLVERR, Response.DECERR, Response.EXOKAY])
def test_bad_responses_are_reported(response):
    """Each once, of reads and of writes; the words around it arrive."""
    broken = {20, 40}
    dut, memory, background = channel(
        WIDE, respond=lambda address: response if address in broken else Response.OKAY)
    memory.contents[:] = np.arange(WIDE.channel_words)
    faults, seen = [], []

    async def bench(ctx):
        for start in range(0, 64, 16):
            await put(ctx, dut.channel.read_request, [{"address": start, "length": 16}])
            assert await get(ctx, dut.channel.read_data, 16) == list(range(start, start + 16))
            await ctx.tick().repeat(3)
            seen.append(len(faults))
            await write_all(dut, [(start + index, 0) for index in range(16)])(ctx)
            await ctx.tick().repeat(3)
            seen.append(len(faults))

    run(dut, bench, background=[*background, count_cycles(dut.fault, faults)])
    assert seen == [0, 0, 1, 2, 3, 4, 4, 4]
    assert np.flatnonzero(memory.contents[:64]).tolist() == [20, 40]


@pytest.mark.parametrize("width", [13, 65])
def test_bad_address_widths_are_refused(width):
    with pytest.raises(ValueError, match=f"14 to 64 for a channel of 16384 bytes, not {width}"):
        AxiChannel(WIDE, width)


@pytest.mark.parametrize("seed", range(6))
def test_a_reset_leaves_nothing_under_way(seed):
    """Amid reads and writes: all that was begun is finished, and afterwards words are right."""
    rng = np.random.default_rng(seed)
    reset = Signal()
    dut = AxiChannel(NARROW, 34)
    memory = AxiMemory(read=dut.axi.read, write=dut.axi.write, base=HIGH, rng=rng, stall=0.3,
                       words=NARROW.channel_words, latency=int(rng.integers(1, 60)))
    memory.contents[:] = rng.integers(1, 1 << 16, NARROW.channel_words)
    m = Module()
    m.submodules.dut = ResetInserter(reset)(dut)
    stopped = []

    async def place(ctx):
        ctx.set(dut.base, HIGH)

    async def traffic(ctx, stream, payload):
        """Offer whatever until the reset; nobody takes all that is read."""
        while not stopped:
            ctx.set(stream.payload, payload())
            ctx.set(stream.valid, 1)
            taken = False
            while not taken and not stopped:
                _, _, taken = await ctx.tick().sample(stream.ready)
        ctx.set(stream.valid, 0)

    def read():
        return {"address": int(rng.integers(48)), "length": int(rng.integers(1, 17))}

    def write():
        return {"address": int(rng.integers(64)), "data": int(rng.integers(1, 1 << 16))}

    async def bench(ctx):
        await ctx.tick().repeat(int(rng.integers(5, 120)))
        ctx.set(dut.quiesce, 1)
        await ctx.tick().repeat(2)
        while ctx.get(dut.unfinished):
            await ctx.tick()
        bursts = len(memory.reads), len(memory.writes)
        await ctx.tick().repeat(200)
        assert (len(memory.reads), len(memory.writes)) == bursts
        stopped.append(True)
        await ctx.tick()
        ctx.set(reset, 1)
        ctx.set(dut.quiesce, 0)
        await ctx.tick()
        ctx.set(reset, 0)
        for start in range(0, 64, 16):
            expected = [int(word) for word in memory.contents[start:start + 16]]
            await put(ctx, dut.channel.read_request, [{"address": start, "length": 16}])
            assert await get(ctx, dut.channel.read_data, 16) == expected
        await write_all(dut, [(5, 77)])(ctx)
        assert memory.contents[5] == 77

    run(m, bench, background=[
        place, *memory.drivers,
        lambda ctx: traffic(ctx, dut.channel.read_request, read),
        lambda ctx: traffic(ctx, dut.channel.write, write)])
