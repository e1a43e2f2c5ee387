# SPDX-License-Identifier: BSD-2-Clause
"""SimulatedChannel: an SramBank's contents, at the latency asked for, with stalls."""

import itertools

import pytest
from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from hypercast.rtl.config import Config
from hypercast.rtl.memory.simulated_channel import SimulatedChannel, memory_channel
from hypercast.rtl.memory.sram_bank import SramBank
from tests.bench import get, put, run
from tests.rtl.flips import count_cycles, flip, parity_memories  # noqa: F401
from tests.rtl.memory.channel_bench import check_contents, time_bursts, time_mixture

SMALL = Config(lanes=2, element_width=8, channel_words=64)
LARGE = Config(lanes=16, element_width=16, channel_words=128)


@pytest.mark.grid
@pytest.mark.parametrize("config", [SMALL, LARGE], ids=lambda config: f"{config.word_width}bit")
@pytest.mark.parametrize("latency", [1, 2, 30])
@pytest.mark.parametrize("stalls", [False, True])
@pytest.mark.parametrize(("idle", "stall"), [(0.0, 0.0), (0.3, 0.3)])
def test_contents(config, latency, stalls, idle, stall):
    config = config.replace(memory_latency=latency, memory_stalls=stalls)
    check_contents(SimulatedChannel(config, 7), config, latency, idle, stall)


@pytest.mark.grid
@pytest.mark.parametrize("latency", [2, 3, 20, 64])
@pytest.mark.parametrize("lengths", [[1], [1] * 32, [16] * 40, [3, 16, 1, 1, 2, 9]])
def test_latency_and_rate(latency, lengths):
    """Bursts overlap: the latency is paid once."""
    dut = SimulatedChannel(SMALL.replace(memory_latency=latency), 1)
    assert time_bursts(dut, lengths) == (latency, latency + sum(lengths) - 1)


def test_one_access_per_cycle():
    dut = SimulatedChannel(SMALL.replace(memory_latency=50), 1)
    assert 160 <= time_mixture(dut, 80) <= 160 + 100


def test_outstanding_bursts_are_bounded():
    """64 bursts wait: at latency 100, single words come at two thirds of the rate."""
    dut = SimulatedChannel(SMALL.replace(memory_latency=100), 1)
    assert time_bursts(dut, [2] * 32) == (100, 163)
    _, last = time_bursts(SimulatedChannel(SMALL.replace(memory_latency=100), 1), [1] * 320)
    assert 5 * 100 + 63 <= last <= 5 * 104 + 63

    accepted = 0

    async def count(ctx):
        nonlocal accepted
        while True:
            *_, taken = await ctx.tick().sample(dut.channel.read_request.ready)
            accepted += taken

    async def wait(ctx):
        ctx.set(dut.channel.read_request.valid, 1)
        ctx.set(dut.channel.read_request.p.length, 2)
        await ctx.tick().repeat(300)

    run(dut, wait, background=[count])
    assert accepted == 65  # one has its first word, which nobody takes


def test_stalls():
    """One word in sixteen waits, and refreshes come on top; seeds differ."""
    config = SMALL.replace(memory_stalls=True, memory_latency=64)
    words = 4 * 975
    cycles = [time_bursts(SimulatedChannel(config, seed), [12] * (words // 12))[1]
              for seed in (1, 1, 0xDEADBEEF)]
    assert cycles[0] == cycles[1] != cycles[2]
    for total in cycles:
        assert 1.15 * words < total < 1.2 * words


@pytest.mark.parametrize("seed", [1, 9])
def test_single_words_meet_bank_conflicts(seed):
    """One request in four waits, and refreshes come on top."""
    config = SMALL.replace(memory_stalls=True, memory_latency=8)
    words = 4 * 975
    _, last = time_bursts(SimulatedChannel(config, seed), [1] * words)
    assert 1.4 * words < last < 1.5 * words


@pytest.mark.parametrize("stream", ["read", "write"])
def test_refresh(stream):
    """Nothing moves for 88 cycles in every 975."""
    dut = SimulatedChannel(SMALL.replace(memory_stalls=True, memory_latency=64), 5)
    channel = dut.channel
    moved = []

    async def watch(ctx):
        watched = channel.read_data if stream == "read" else channel.write
        for cycle in itertools.count():
            *_, moves = await ctx.tick().sample(watched.valid & watched.ready)
            if moves:
                moved.append(cycle)

    if stream == "read":
        requests = [{"address": 0, "length": 16}] * 200
        benches = [lambda ctx: put(ctx, channel.read_request, requests),
                   lambda ctx: get(ctx, channel.read_data, 3200)]
    else:
        benches = [lambda ctx: put(ctx, channel.write, [{"address": 1, "data": 1}] * 3200)]
    run(dut, *benches, background=[watch])
    pauses = [(before, after) for before, after in itertools.pairwise(moved) if after - before > 80]
    assert len(pauses) >= 3
    for before, after in pauses:
        assert 89 <= after - before <= 89 + 8
    for (_, first), (_, second) in itertools.pairwise(pauses):
        assert abs(second - first - 975) <= 8


def test_memory_channel():
    assert isinstance(memory_channel(SMALL, 1), SramBank)
    assert isinstance(memory_channel(SMALL.replace(memory_latency=2), 1), SimulatedChannel)
    assert isinstance(memory_channel(SMALL.replace(memory_stalls=True), 1), SimulatedChannel)


@pytest.mark.parametrize("seed", [0, -1, 1 << 32])
def test_seeds_out_of_range_are_refused(seed):
    with pytest.raises(ValueError, match=str(seed)):
        SimulatedChannel(SMALL, seed)


def test_a_changed_word_is_reported(parity_memories):  # noqa: F811
    dut, faults = SimulatedChannel(SMALL.replace(memory_latency=5), 1), []

    async def bench(ctx):
        channel = dut.channel
        await put(ctx, channel.write, [{"address": word, "data": word} for word in range(8)])
        while not ctx.get(channel.idle):
            await ctx.tick()
        flip(ctx, parity_memories[0], 3)
        for _ in range(2):
            await put(ctx, channel.read_request, [{"address": 0, "length": 8}])
            await get(ctx, channel.read_data, 8)
        await ctx.tick().repeat(5)
        assert len(faults) == 2

    run(dut, bench, background=[count_cycles(dut.fault, faults)])


class _Stalls(wiring.Component):
    """When requests, words read and words written are held up."""

    o: Out(3)

    def __init__(self, seed):
        super().__init__()
        self._channel = SimulatedChannel(SMALL.replace(memory_stalls=True), seed)

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.o.eq(Cat(self._channel._random_stalls(m)))
        return m


@pytest.mark.parametrize("seed", [1, 77])
def test_stalls_are_always_the_same(seed):
    """So that cycles of a configuration are the same on every machine."""
    dut = _Stalls(seed)

    async def bench(ctx):
        state = time = seed * 0x9E3779B1 % 2**32
        for _ in range(2500):
            refresh = time % 975 < 88
            held = [all(state >> bit & 1 for bit in bits)
                    for bits in ((3, 14), (1, 8, 22, 27), (4, 11, 17, 30))]
            assert ctx.get(dut.o) == sum((refresh or one) << place
                                         for place, one in enumerate(held))
            feedback = (state >> 31 ^ state >> 21 ^ state >> 1 ^ state) & 1
            state, time = (state << 1 | feedback) % 2**32, time + 1
            await ctx.tick()

    run(dut, bench)
