"""EdgeRequests: rounds of first words, then a refill per token, each stream a circle."""

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
    """Two sets of streams, some of them empty or shorter than a refill."""
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
        circles = [_Circle(*stream) for stream in streams]
        rounds = [*range(config.streams)] * (edge_buffer // refill)
        sets.append((streams, tokens, [(number, *burst) for number in (*rounds, *tokens)
                                       for burst in circles[number].bursts(refill)]))

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
            while len(received) < len(expected):
                await ctx.tick()
            assert received == expected
            received.clear()

    async def collect(ctx):
        for _ in range(sum(len(expected) for _, _, expected in sets)):
            [request] = await get(ctx, dut.request, 1, rng, stall)
            received.append((request.stream, request.address, request.length))

    run(dut, feed, collect)


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
