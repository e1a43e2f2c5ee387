# SPDX-License-Identifier: BSD-2-Clause
"""EdgeRequests: rounds of first words, then a refill per token, each stream a circle."""

import itertools

import numpy as np
import pytest

from hypercast.rtl.aggregation.edge_requests import EdgeRequests
from hypercast.rtl.config import Config
from hypercast.rtl.limits import refill_words
from tests.bench import get, put, run


class _Circle:
    """A stream's words, of which a given number is requested at a time."""

    def __init__(self, address, words):
        self._address, self._words = address, words
        self._next = 0

    def bursts(self, count):
        """(address, length) of each burst."""
        while self._words and count:
            length = min(count, self._words - self._next)
            yield self._address + self._next, length
            self._next = (self._next + length) % self._words
            count -= length


@pytest.mark.parametrize(("edge_buffer", "planes", "dimensions", "stall"), [
    (2, 1, 0, 0.0), (8, 2, 1, 0.3), (16, 4, 2, 0.0), (32, 1, 2, 0.5)])
def test_requests(edge_buffer, planes, dimensions, stall):
    """Two sets of streams, some of them empty or shorter than a refill, each word in its turn."""
    config = Config(dimensions=dimensions, planes=planes, edge_buffer=edge_buffer,
                    channel_words=4096)
    rng = np.random.default_rng(4)
    dut = EdgeRequests(config)
    refill = refill_words(config)
    sets, received = [], []
    for _ in range(2):
        streams = [(int(rng.integers(4000)), int(rng.choice([0, 1, 3, refill, 40])))
                   for _ in range(config.streams)]
        tokens = [int(token) for token in rng.integers(0, config.streams, size=100)]
        sets.append((streams, tokens, [
            list(itertools.chain.from_iterable(
                burst for _ in range(tokens.count(number) + edge_buffer // refill)
                for burst in [list(circle.bursts(refill))]))
            for number, circle in enumerate(map(_Circle, *zip(*streams, strict=True)))]))

    async def feed(ctx):
        for streams, tokens, expected in sets:
            ctx.set(dut.restart, 1)
            await ctx.tick()
            ctx.set(dut.restart, 0)
            for address, words in streams:
                while rng.random() < stall:
                    await ctx.tick()
                ctx.set(dut.descriptors.payload.address, address)
                ctx.set(dut.descriptors.payload.words, words)
                ctx.set(dut.descriptors.valid, 1)
                await ctx.tick()
                ctx.set(dut.descriptors.valid, 0)
            await put(ctx, dut.tokens, tokens, rng, stall)
            while len(received) < sum(map(len, expected)):
                await ctx.tick()
            for number, bursts in enumerate(expected):
                assert [burst for stream, *burst in received if stream == number] == [
                    list(burst) for burst in bursts]
            first = [stream for stream, *_ in received]
            assert sorted(set(first), key=first.index) == sorted(set(first))
            received.clear()

    async def collect(ctx):
        for _ in range(sum(len(bursts) for _, _, expected in sets for bursts in expected)):
            [request] = await get(ctx, dut.request, 1, rng, stall)
            received.append((request.stream, request.address, request.length))

    run(dut, feed, collect)


def test_words_that_were_used_up_go_first():
    """Before all rounds but the first, and not within another token's bursts."""
    config = Config(dimensions=1, planes=1, edge_buffer=16, channel_words=4096)
    dut = EdgeRequests(config)
    received = []

    async def bench(ctx):
        ctx.set(dut.request.ready, 1)
        ctx.set(dut.restart, 1)
        await ctx.tick()
        ctx.set(dut.restart, 0)
        for address in (0, 100):
            ctx.set(dut.descriptors.payload, {"address": address, "words": 3})
            ctx.set(dut.descriptors.valid, 1)
            await ctx.tick()
        ctx.set(dut.descriptors.valid, 0)
        await put(ctx, dut.tokens, [1, 1])
        await ctx.tick().repeat(60)

    async def collect(ctx):
        while True:
            _, _, valid, request = await ctx.tick().sample(dut.request.valid, dut.request.payload)
            if valid:
                received.append((request.stream, request.length))

    run(dut, bench, background=[collect], cycles=200)
    tokens, bursts = [], list(received)
    while bursts:
        stream, words = bursts[0][0], 0
        while words < 4:
            assert bursts[0][0] == stream
            words += bursts.pop(0)[1]
        assert words == 4
        tokens.append(stream)
    assert tokens == [0, 1, 1, 1, 0, 1, 0, 1, 0, 1]


def test_a_request_does_not_wait_to_be_taken():
    config = Config(dimensions=1, planes=1, channel_words=4096)
    dut = EdgeRequests(config)

    async def bench(ctx):
        ctx.set(dut.restart, 1)
        await ctx.tick()
        ctx.set(dut.restart, 0)
        ctx.set(dut.descriptors.payload, {"address": 8, "words": 5})
        ctx.set(dut.descriptors.valid, 1)
        await ctx.tick().repeat(config.streams)
        ctx.set(dut.descriptors.valid, 0)
        while not ctx.get(dut.request.valid):
            await ctx.tick()

    run(dut, bench, cycles=200)
