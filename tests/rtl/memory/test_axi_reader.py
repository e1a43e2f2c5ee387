# SPDX-License-Identifier: BSD-2-Clause
"""AxiReader: bursts that ask for each word once, words in order, and faults counted once."""

import numpy as np
import pytest

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import BURST
from hypercast.rtl.memory.axi4 import BOUNDARY, Response
from hypercast.rtl.memory.axi_reader import AxiReader
from tests.bench import get, put, run
from tests.rtl.flips import count_cycles
from tests.rtl.memory.axi_memory import AxiMemory

_PAGED = Config(lanes=2, element_width=8, channel_words=4096)  # 4 times 4 KiB
_WIDE = Config(lanes=16, element_width=16, channel_words=512)  # the same
_SMALL = Config(lanes=2, element_width=8, channel_words=64)  # within 4 KiB
_WIDTH = 34
_MOST = 64


def _bench(config, base=0x2_4000_0000, **memory):
    dut = AxiReader(config, _WIDTH)
    memory = AxiMemory(read=dut.axi, base=base, words=config.channel_words, **memory)
    memory.contents[:] = np.random.default_rng(1).permutation(1 << 16)[:config.channel_words]

    async def place(ctx):
        ctx.set(dut.base, base)

    return dut, memory, [place, *memory.drivers]


def _read(dut, memory, requests, rng=None, idle=0.0, stall=0.0):
    """Testbenches: ask for ``(start, length)``, and compare every word."""
    expected = [word for start, length in requests
                for word in memory.contents[start:start + length]]

    async def receive(ctx):
        assert await get(ctx, dut.data, len(expected), rng, stall) == expected

    payloads = [{"address": start, "length": length} for start, length in requests]
    return lambda ctx: put(ctx, dut.request, payloads, rng, idle), receive


def _bursts(config, requests):
    """Bursts of requests: one for each, or two that meet where none may cross."""
    page = BOUNDARY * 8 // config.word_width
    bursts = []
    for start, length in requests:
        before = min(length, page - start % page)
        bursts += [(start, before), (start + before, length - before)]
    return [(start, length) for start, length in bursts if length]


def _random_requests(rng, config, number):
    page = min(BOUNDARY * 8 // config.word_width, config.channel_words)
    requests = []
    for _ in range(number):
        length = int(rng.integers(1, BURST + 1))
        start = int(rng.integers(config.channel_words - length + 1))
        if rng.random() < 0.5:  # about a boundary
            start = page * int(rng.integers(config.channel_words // page + 1))
            start += int(rng.integers(-BURST, 2))
        requests.append((min(max(start, 0), config.channel_words - length), length))
    return requests


@pytest.mark.grid
@pytest.mark.parametrize("config", [_PAGED, _WIDE, _SMALL],
                         ids=lambda config: f"{config.channel_words}")
@pytest.mark.parametrize(("latency", "idle", "stall"), [
    (1, 0.0, 0.0), (20, 0.0, 0.0), (1, 0.5, 0.5), (20, 0.0, 0.6), (3, 0.7, 0.0)])
def test_random_requests(config, latency, idle, stall):
    rng = np.random.default_rng(round(10 * (latency + idle + stall)))
    base = int(rng.integers(1 << 10)) << 24
    dut, memory, background = _bench(config, base, rng=rng, latency=latency, stall=stall,
                                     shy=stall > 0)
    requests = _random_requests(rng, config, 100)
    run(dut, *_read(dut, memory, requests, rng, idle, stall), background=background)
    assert memory.reads == _bursts(config, requests)


@pytest.mark.parametrize("config", [_PAGED, _WIDE], ids=lambda config: f"{config.channel_words}")
def test_every_length_at_every_distance_of_a_boundary(config):
    page = BOUNDARY * 8 // config.word_width
    dut, memory, background = _bench(config, latency=5)
    requests = [(start, length) for length in range(1, BURST + 1)
                for start in range(2 * page - length - 1, 2 * page + 2)]
    run(dut, *_read(dut, memory, requests), background=background)
    assert memory.reads == _bursts(config, requests)


@pytest.mark.parametrize(("length", "latency"), [(16, 64), (1, 20), (1, 57)])
def test_a_word_per_cycle(length, latency):
    """As long as no more than 64 bursts need be under way; two cycles more than the memory's."""
    number = 320
    dut, memory, background = _bench(_WIDE, latency=latency)
    put_all, _ = _read(dut, memory, [(0, length)] * (number // length))
    times = []

    async def watch(ctx):
        ctx.set(dut.data.ready, 1)
        cycle = asked = 0
        while len(times) < number:
            _, _, request, word = await ctx.tick().sample(
                dut.request.valid & dut.request.ready, dut.data.valid)
            if request and not asked:
                asked = cycle + 1
            if word:
                times.append(cycle + 1 - asked)
            cycle += 1

    run(dut, put_all, watch, background=background)
    assert times == list(range(latency + 2, latency + 2 + number))


@pytest.mark.grid
@pytest.mark.parametrize("stall", [0.0, 0.5])
@pytest.mark.parametrize("lengths", [[1], [16, 1, 1], [2, 3]])
def test_bursts_under_way_are_bounded(lengths, stall):
    """By 64 and by no less. One is over once its last word was taken, however many it has."""
    rng = np.random.default_rng(len(lengths))
    dut, memory, background = _bench(_WIDE, latency=300)
    page = BOUNDARY * 8 // _WIDE.word_width
    requests = [(page - length // 2, length) for length in lengths * (180 // len(lengths))]
    run(dut, *_read(dut, memory, requests, rng, 0.0, stall), background=background)
    assert memory.most_reads == _MOST
    assert memory.reads == _bursts(_WIDE, requests)


@pytest.mark.grid
@pytest.mark.parametrize("response", [Response.SLVERR, Response.DECERR, Response.EXOKAY])
@pytest.mark.parametrize("stall", [0.0, 0.7])
def test_each_bad_response_is_reported_once(response, stall):
    """However long its word waits; the words are passed on."""
    rng = np.random.default_rng(response.value)
    broken = set(rng.integers(_SMALL.channel_words, size=12).tolist())
    dut, memory, background = _bench(
        _SMALL, rng=rng, stall=stall / 2,
        respond=lambda address: response if address in broken else Response.OKAY)
    requests = _random_requests(rng, _SMALL, 30)
    put_all, receive = _read(dut, memory, requests, rng, 0.0, stall)
    faults = []

    async def and_after(ctx):
        await receive(ctx)
        await ctx.tick().repeat(3)

    run(dut, put_all, and_after, background=[*background, count_cycles(dut.fault, faults)])
    assert len(faults) == sum(address in broken for start, length in requests
                              for address in range(start, start + length))
