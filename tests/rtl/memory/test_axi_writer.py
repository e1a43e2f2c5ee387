# SPDX-License-Identifier: BSD-2-Clause
"""AxiWriter: every word once and in order, in the longest bursts, and a faithful ``idle``."""

import numpy as np
import pytest

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import BURST
from hypercast.rtl.memory.axi4 import BOUNDARY, Response
from hypercast.rtl.memory.axi_writer import AxiWriter
from tests.bench import put, run
from tests.rtl.flips import count_cycles
from tests.rtl.memory.axi_memory import AxiMemory

_PAGED = Config(lanes=2, element_width=8, channel_words=4096)  # 4 times 4 KiB
_WIDE = Config(lanes=16, element_width=16, channel_words=512)  # the same
_SMALL = Config(lanes=2, element_width=8, channel_words=64)  # within 4 KiB
_WIDTH = 34
_MOST, _WAITING, _PATIENCE = 64, 32, 16


class _Bench:
    """A writer, its memory, and when it took what."""

    def __init__(self, config, base=0x2_4000_0000, **memory):
        self.dut = AxiWriter(config, _WIDTH)
        self.memory = AxiMemory(write=self.dut.axi, base=base, words=config.channel_words, **memory)
        self.taken = []  # cycle, address, word
        self.idle = []  # cycles
        self._base = base

    def run(self, *testbenches, background=()):
        run(self.dut, *testbenches, background=[
            self._place, self._watch, *self.memory.drivers, *background])

    async def write(self, ctx, writes, rng=None, idle=0.0):
        """Write ``(address, word)`` pairs."""
        await put(ctx, self.dut.write, [{"address": address, "data": word}
                                        for address, word in writes], rng, idle)

    async def finish(self, ctx):
        """Wait until all is written."""
        while not ctx.get(self.dut.idle):
            await ctx.tick()

    async def _place(self, ctx):
        ctx.set(self.dut.base, self._base)

    async def _watch(self, ctx):
        cycle, dut = 0, self.dut
        while True:
            _, _, taken, write, idle = await ctx.tick().sample(
                dut.write.valid & dut.write.ready, dut.write.payload, dut.idle)
            if taken:
                self.taken.append((cycle, write.address, write.data))
            if idle:
                self.idle.append(cycle)
            cycle += 1


def _bursts(config, taken):
    """What words become that were taken in certain cycles."""
    page = BOUNDARY * 8 // config.word_width
    bursts, last = [], None
    for cycle, address, _ in taken:
        start, beats = bursts[-1] if bursts else (0, BURST)
        if (beats < BURST and address == start + beats and address % page
                and cycle - last <= _PATIENCE + 1):
            bursts[-1] = start, beats + 1
        else:
            bursts.append((address, 1))
        last = cycle
    return bursts


def _random_runs(rng, config, number):
    page = min(BOUNDARY * 8 // config.word_width, config.channel_words)
    writes = []
    for _ in range(number):
        length = int(rng.choice([1, 1, 2, 3, 15, 16, 17, 40]))
        start = int(rng.integers(config.channel_words - length + 1))
        if rng.random() < 0.5:  # about a boundary
            start = page * int(rng.integers(config.channel_words // page + 1))
            start = min(max(start - int(rng.integers(length + 1)), 0),
                        config.channel_words - length)
        writes += [(address, int.from_bytes(rng.bytes(config.word_width // 8), "little"))
                   for address in range(start, start + length)]
    return writes


@pytest.mark.grid
@pytest.mark.parametrize("config", [_PAGED, _WIDE, _SMALL],
                         ids=lambda config: f"{config.channel_words}")
@pytest.mark.parametrize(("latency", "idle", "stall"), [
    (1, 0.0, 0.0), (9, 0.2, 0.2), (9, 0.9, 0.0), (30, 0.0, 0.7)])
def test_random_runs(config, latency, idle, stall):
    """All arrive, in order of acceptance, in as few bursts as patience allows."""
    rng = np.random.default_rng(round(10 * (latency + idle + stall)))
    bench = _Bench(config, int(rng.integers(1 << 10)) << 24, rng=rng, latency=latency, stall=stall,
                   shy=stall > 0)
    writes = _random_runs(rng, config, 20)
    expected = bench.memory.contents.copy()
    for address, word in writes:
        expected[address] = word

    async def testbench(ctx):
        await bench.write(ctx, writes, rng, idle)
        await bench.finish(ctx)
        assert (bench.memory.contents == expected).all()

    bench.run(testbench)
    assert [write[1:] for write in bench.taken] == writes
    assert bench.memory.writes == _bursts(config, bench.taken)


def test_patience():
    """A run goes on if no more than 16 cycles pass without a word, however long it has waited."""
    bench = _Bench(_WIDE)
    pauses = [16, 17, 15, 0, 17, 16, 16, 16, 0, 40, 16, 18, 16]

    async def testbench(ctx):
        for address, pause in enumerate(pauses):
            await bench.write(ctx, [(address, 1)])
            for _ in range(pause):
                await ctx.tick()
        await bench.finish(ctx)

    bench.run(testbench)
    assert bench.memory.writes == [(0, 2), (2, 3), (5, 5), (10, 2), (12, 1)]
    assert bench.memory.writes == _bursts(_WIDE, bench.taken)


@pytest.mark.parametrize("first", [0, 128 - BURST, 128 - 5])
def test_what_is_full_is_sent_at_once(first):
    """Nothing could continue it, so nobody waits for that."""
    bench = _Bench(_WIDE)
    length = min(BURST, 128 - first) if first else BURST

    async def testbench(ctx):
        await bench.write(ctx, [(first + index, 1) for index in range(length)])
        cycles = 0
        while not ctx.get(bench.dut.axi.awvalid):
            await ctx.tick()
            cycles += 1
        assert cycles <= 3

    bench.run(testbench)


@pytest.mark.parametrize("addresses", [
    range(256), list(range(0, 512, 2)), [0] * 100, [*range(17), *range(60, 70), 3, 4, 8] * 6],
    ids=["rising", "scattered", "same", "mixed"])
def test_a_word_per_cycle(addresses):
    """In bursts of any length, as long as no more than 64 need be under way."""
    bench = _Bench(_WIDE, latency=55)
    bench.run(lambda ctx: bench.write(ctx, [(address, 1) for address in addresses]))
    first = bench.taken[0][0]
    assert [cycle for cycle, *_ in bench.taken] == [first + step for step in range(len(addresses))]


@pytest.mark.parametrize("step", [1, 2])
def test_words_that_can_wait(step):
    """As many in one run as in runs of one word."""
    bench = _Bench(_WIDE, rng=np.random.default_rng(0), stall=1.0)  # takes nothing
    writes = [(index * step, index) for index in range(_WAITING + 5)]

    async def patience(ctx):
        await ctx.tick().repeat(3 * len(writes))

    bench.run(patience, background=[lambda ctx: bench.write(ctx, writes)])
    assert len(bench.taken) == _WAITING + 1  # one is offered to the memory


def test_bursts_under_way_are_bounded():
    """By 64 and by no less, for as long as it writes."""
    bench = _Bench(_WIDE, latency=250)
    writes = [(index % 512, index) for index in range(0, 400, 2)]

    async def testbench(ctx):
        for _ in range(2):
            bench.memory.most_writes = 0
            await bench.write(ctx, writes)
            await bench.finish(ctx)
            assert bench.memory.most_writes == _MOST

    bench.run(testbench)


@pytest.mark.parametrize("length", [1, 2, 16, 20])
def test_idle_waits_for_the_responses(length):
    """Low from the cycle after a word was taken until the memory has acknowledged all."""
    latency = 40
    bench = _Bench(_WIDE, latency=latency)

    async def testbench(ctx):
        assert ctx.get(bench.dut.idle)
        await bench.write(ctx, [(index, index + 1) for index in range(length)])
        assert not ctx.get(bench.dut.idle)
        await bench.finish(ctx)
        assert bench.memory.contents[:length].tolist() == list(range(1, length + 1))
        await ctx.tick().repeat(50)

    bench.run(testbench)
    first, last = bench.taken[0][0], bench.taken[-1][0]
    assert not [cycle for cycle in bench.idle if first < cycle <= last + latency]
    assert len([cycle for cycle in bench.idle if cycle > last + latency]) >= 50


@pytest.mark.grid
@pytest.mark.parametrize("response", [Response.SLVERR, Response.DECERR, Response.EXOKAY])
@pytest.mark.parametrize("stall", [0.0, 0.5])
def test_each_bad_response_is_reported_once(response, stall):
    rng = np.random.default_rng(response.value)
    broken = {20, 21, 40, 0}
    bench = _Bench(_SMALL, rng=rng, stall=stall,
                   respond=lambda address: response if address in broken else Response.OKAY)
    writes = _random_runs(rng, _SMALL, 12)
    faults = []

    async def testbench(ctx):
        await bench.write(ctx, writes)
        await bench.finish(ctx)
        await ctx.tick().repeat(3)

    bench.run(testbench, background=[count_cycles(bench.dut.fault, faults)])
    bad = [burst for burst in bench.memory.writes if broken & set(range(burst[0], sum(burst)))]
    assert len(faults) == len(bad) > 0
