# SPDX-License-Identifier: BSD-2-Clause
"""EdgeFetch: the words of every stream, round and round, and never more than there is room for."""

import numpy as np
import pytest

from hypercast.rtl.aggregation.edge_fetch import EdgeFetch
from hypercast.rtl.config import Config
from hypercast.rtl.limits import refill_words
from tests.bench import MemoryModel, run
from tests.rtl.aggregation.edge_sets import EdgeSet, random_edge_set


class _Consumer:
    """Takes the words and gives tokens back, at most one per aggregator and cycle."""

    def __init__(self, config, dut, rng):
        self._config = config
        self._dut = dut
        self._rng = rng
        self.restart([[] for _ in range(config.streams)])

    def restart(self, streams):
        """Expect words of a new set, each stream from its beginning."""
        self._streams = streams
        self.used = [0] * self._config.streams
        self.arrived = [0] * self._config.streams

    async def cycle(self, ctx, *, use=True):
        """Go on for a cycle, in which words are used up or not; what was given with ``start`` ends.

        Returns the total, if it was given.
        """
        config, dut = self._config, self._dut
        refill = refill_words(config)
        for port, freed in enumerate(dut.freed):
            full = [number for number in range(config.streams)
                    if self.arrived[number] - self.used[number] >= refill
                    and number // config.cores % config.eject == port]
            give = use and bool(full) and self._rng.random() < 0.7
            ctx.set(freed.valid, give)
            if give:
                number = int(self._rng.choice(full))
                plane, source = divmod(number, config.cores)
                ctx.set(freed.payload, plane // config.eject * config.cores + source)
                self.used[number] += refill
        _, _, clear, valid, word, announced, total = await ctx.tick().sample(
            dut.clear, dut.fill.valid, dut.fill.payload, dut.total.valid, dut.total.payload)
        ctx.set(dut.start, 0)
        if valid and not clear:
            stream = self._streams[word.stream]
            assert word.word == stream[self.arrived[word.stream] % len(stream)]
            self.arrived[word.stream] += 1
            assert self.arrived[word.stream] - self.used[word.stream] <= config.edge_buffer
        return total if announced else None

    def complete(self):
        """Whether every word of the set has been used at least once."""
        return all(used >= len(stream)
                   for used, stream in zip(self.used, self._streams, strict=True))


@pytest.mark.parametrize(("changes", "latency", "stall"), [
    ({}, 1, 0.0),
    ({"lanes": 16, "eject": 2, "dimensions": 3}, 12, 0.2),
    ({"lanes": 2, "eject": 4, "dimensions": 1, "edge_buffer": 4}, 15, 0.3),
    ({"planes": 1, "dimensions": 0, "edge_buffer": 8}, 2, 0.0),
    ({"planes": 2, "eject": 2, "edge_buffer": 32}, 64, 0.1),
])
def test_streams(changes, latency, stall):
    """Sets in any order, each perhaps many times in a row, begun whatever is under way."""
    fields = dict(dimensions=2, lanes=4, planes=4, eject=1, accumulator_rows=16, weight_rows=16,
                  channel_words=4096, read_buffer=8)
    config = Config(**{**fields, **changes})
    rng = np.random.default_rng(7)
    dut = EdgeFetch(config)
    memory = MemoryModel(config, rng, latency=latency, stall=stall)
    sets = [random_edge_set(config, rng, messages=40), EdgeSet(config),
            random_edge_set(config, rng, messages=40, longest=20)]
    consumer = _Consumer(config, dut, rng)

    async def start(ctx, address, edge_set, *, known):
        """Until the total has been told; a known set's is told at once."""
        ctx.set(dut.start, 1)
        ctx.set(dut.edge_set, address)
        if not known:
            consumer.restart(edge_set.words())
        totals = [await consumer.cycle(ctx, use=known)]
        assert ctx.get(dut.busy)
        while ctx.get(dut.busy):
            totals.append(await consumer.cycle(ctx))
        assert totals[:-1] == [None] * (len(totals) - 1) and totals[-1] == edge_set.total
        assert not known or len(totals) == 2

    async def bench(ctx):
        addresses, address = [], 1
        for edge_set in sets:
            addresses.append(address)
            address = edge_set.store(memory.channels[1], address, rng)
        for index in (0, 1, 2, 1, 0, 2):
            for known in (False, True, True):
                await start(ctx, addresses[index], sets[index], known=known)
                while not consumer.complete():
                    await consumer.cycle(ctx)
            for _ in range(int(rng.integers(2 * latency + 5))):
                await consumer.cycle(ctx, use=bool(rng.integers(2)))

    run(dut, bench, background=[lambda ctx: memory.serve_read(ctx, dut.port)])


def test_memory_that_may_have_changed_is_read_anew():
    config = Config(dimensions=1, lanes=2, planes=1, accumulator_rows=16, channel_words=1024)
    rng = np.random.default_rng(3)
    dut = EdgeFetch(config)
    memory = MemoryModel(config, latency=9)
    consumer = _Consumer(config, dut, rng)

    async def bench(ctx):
        for messages in (20, 30):
            edge_set = random_edge_set(config, rng, messages=messages)
            edge_set.store(memory.channels[1], 5, rng)
            ctx.set(dut.forget, 1)
            await ctx.tick()
            ctx.set(dut.forget, 0)
            ctx.set(dut.start, 1)
            ctx.set(dut.edge_set, 5)
            consumer.restart(edge_set.words())
            totals = [await consumer.cycle(ctx, use=False)]
            while not consumer.complete():
                totals.append(await consumer.cycle(ctx))
            assert [total for total in totals if total is not None] == [edge_set.total]
            for _ in range(40):  # words ahead arrive
                await consumer.cycle(ctx, use=False)

    run(dut, bench, background=[lambda ctx: memory.serve_read(ctx, dut.port)])


@pytest.mark.grid
@pytest.mark.parametrize("changes", [
    {"planes": 1, "dimensions": 1}, {"planes": 4, "dimensions": 2, "edge_buffer": 32}])
@pytest.mark.parametrize("latency", [1, pytest.param(64, marks=pytest.mark.slow), 24])
def test_prefetch(changes, latency):
    """Whatever is prefetched, however often and late, the set started is the one delivered."""
    fields = dict(lanes=2, accumulator_rows=16, weight_rows=16, channel_words=4096, read_buffer=8)
    config = Config(**{**fields, **changes})
    rng = np.random.default_rng(11)
    dut = EdgeFetch(config)
    memory = MemoryModel(config, rng, latency=latency, stall=0.05)
    consumer = _Consumer(config, dut, rng)
    sets = [random_edge_set(config, rng, messages=30), EdgeSet(config),
            random_edge_set(config, rng, messages=30)]
    addresses, address = [], 1
    for edge_set in sets:
        addresses.append(address)
        address = edge_set.store(memory.channels[1], address, rng)
    current = None

    async def start(ctx, index, *, prefetch):
        nonlocal current
        ctx.set(dut.start, 1)
        ctx.set(dut.edge_set, addresses[index])
        ctx.set(dut.prefetch, prefetch)
        if index != current:
            consumer.restart(sets[index].words())
        current = index
        total = await consumer.cycle(ctx, use=False)
        ctx.set(dut.prefetch, 0)
        assert total is None

    async def program(ctx):
        for trial in range(30):
            for _ in range(int(rng.integers(4))):
                await start(ctx, int(rng.integers(3)), prefetch=1)
                # Words that nobody waits for come, or not yet.
                for _ in range(int(rng.choice([0, 1, 5, 20, latency, 3 * latency]))):
                    assert not ctx.get(dut.busy)
                    assert await consumer.cycle(ctx, use=False) is None
            await start(ctx, trial % 3, prefetch=0)
            totals = []
            while ctx.get(dut.busy):
                totals.append(await consumer.cycle(ctx))
            assert totals[-1] == sets[trial % 3].total
            assert totals[:-1] == [None] * (len(totals) - 1)
            while trial % 2 and not consumer.complete():
                assert await consumer.cycle(ctx) is None

    run(dut, program, background=[lambda ctx: memory.serve_read(ctx, dut.port)])


def test_prefetched_words_are_there_at_the_start():
    """A start long after a prefetch finds the total, and the buffers full."""
    config = Config(dimensions=1, lanes=2, planes=1, accumulator_rows=16, channel_words=1024)
    rng = np.random.default_rng(4)
    dut = EdgeFetch(config)
    memory = MemoryModel(config, latency=64)
    consumer = _Consumer(config, dut, rng)
    edge_set = random_edge_set(config, rng, messages=20)
    edge_set.store(memory.channels[1], 5, rng)

    async def bench(ctx):
        consumer.restart(edge_set.words())
        ctx.set(dut.edge_set, 5)
        for prefetch in (1, 0):
            ctx.set(dut.start, 1)
            ctx.set(dut.prefetch, prefetch)
            await consumer.cycle(ctx, use=False)
            if prefetch:
                for _ in range(300):
                    await consumer.cycle(ctx, use=False)
                assert consumer.arrived == [config.edge_buffer] * config.streams
        assert await consumer.cycle(ctx, use=False) == edge_set.total
        assert not ctx.get(dut.busy)

    run(dut, bench, background=[lambda ctx: memory.serve_read(ctx, dut.port)])
