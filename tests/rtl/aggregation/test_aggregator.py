# SPDX-License-Identifier: BSD-2-Clause
"""Lane: what becomes of each kind of flit. Its sums are tested with the receiver."""

import numpy as np
import pytest

from hypercast.rtl.aggregation.aggregator import Aggregator
from hypercast.rtl.config import Config
from hypercast.rtl.isa import Kind
from tests.bench import get, put, run
from tests.rtl.aggregation.edge_sets import bits_of, random_words
from tests.rtl.flips import count_cycles


def configuration(**changes):
    fields = dict(dimensions=1, lanes=2, planes=1, accumulator_rows=16, weight_rows=32,
                  channel_words=64)
    return Config(**{**fields, **changes})


def flit(config, kind, word, source=0, index=0, digit=0):
    return {"destinations": 1, "source": source, "plane": 0, "kind": kind, "digit": digit,
            "index": index, "payload": bits_of(config, word)}


async def read(ctx, dut, buffer, row):
    """One accumulator row, which is cleared."""
    ctx.set(dut.drain.buffer, buffer)
    ctx.set(dut.drain.row, row)
    ctx.set(dut.drain.enable, 1)
    await ctx.tick()
    ctx.set(dut.drain.enable, 0)
    await ctx.tick()
    assert ctx.get(dut.drain.valid)
    return list(ctx.get(dut.drain.data))


async def fill(ctx, dut, source, *edges):
    """A word for each edge: (row, weight, last)."""
    width = len(dut.fill.payload.word)
    assert width == 32
    for row, weight, last in edges:
        ctx.set(dut.fill.payload.stream, source)
        ctx.set(dut.fill.payload.word, weight & 0xFFFF | row << 16 | last << 31)
        ctx.set(dut.fill.valid, 1)
        await ctx.tick()
    ctx.set(dut.fill.valid, 0)


def test_aggregate_flit_takes_its_run():
    """It waits for each of its edges, and the next flit for it."""
    config = configuration()
    dut = Aggregator(config)

    async def bench(ctx):
        ctx.set(dut.aggregate_buffer, 1)
        await put(ctx, dut.flits, [
            flit(config, Kind.AGGREGATE, [3, -4], source=1),
            flit(config, Kind.AGGREGATE, [10, 20], source=0)])
        await ctx.tick()
        assert ctx.get(dut.starved)
        await fill(ctx, dut, 0, (5, 1, 1))
        assert ctx.get(dut.starved)
        await fill(ctx, dut, 1, (5, 2, 0))
        assert not ctx.get(dut.starved)
        await ctx.tick()
        assert ctx.get(dut.starved)
        await fill(ctx, dut, 1, (6, -7, 1))
        for _ in range(10):
            await ctx.tick()
        assert not ctx.get(dut.starved)
        assert await read(ctx, dut, 1, 5) == [16, 12]
        assert await read(ctx, dut, 1, 6) == [-21, 28]

    run(dut, bench)


@pytest.mark.parametrize("width", [8, 16])
def test_digits_rebuild_any_accumulator(width):
    """The digits of an accumulator, sent as docs/blocks.md says, add up to it."""
    config = configuration(element_width=width)
    rng = np.random.default_rng(3)
    limit = 1 << config.accumulator_width - 1
    values = [[int(value) for value in rng.integers(-limit, limit, size=config.lanes)]
              for _ in range(12)] + [[-limit, limit - 1 - (limit >> 2)], [-1, 0]]
    dut = Aggregator(config)

    def digits(value):
        """``config.digits`` signed digits, the lowest first."""
        for _ in range(config.digits):
            digit = (value + (1 << width - 1)) % (1 << width) - (1 << width - 1)
            yield digit
            value = value - digit >> width

    async def bench(ctx):
        ctx.set(dut.reduce_buffer, 1)
        await put(ctx, dut.flits, [
            flit(config, Kind.REDUCE, word, index=row, digit=number)
            for row, value in enumerate(values)
            for number, word in enumerate(zip(*map(digits, value), strict=True))])
        for _ in range(8):
            await ctx.tick()
        for row, value in enumerate(values):
            assert await read(ctx, dut, 1, row) == value

    run(dut, bench)


def test_what_is_counted():
    """Each edge and each digit once, when it is added; nothing while rows are drained."""
    config = configuration()
    dut = Aggregator(config)
    edges, digits = [], []

    async def bench(ctx):
        await put(ctx, dut.flits, [flit(config, Kind.AGGREGATE, [1, 1])])
        await fill(ctx, dut, 0, (5, 1, 0), (6, 1, 0), (7, 1, 1))
        await ctx.tick().repeat(8)
        assert (len(edges), len(digits)) == (3, 0)
        await put(ctx, dut.flits, [flit(config, Kind.REDUCE, [1, 1], index=row) for row in (1, 2)])
        await ctx.tick().repeat(8)
        assert (len(edges), len(digits)) == (3, 2)
        ctx.set(dut.weights.ready, 1)
        await put(ctx, dut.flits, [flit(config, Kind.WEIGHT, [1, 1])])
        for row in (5, 6, 7, 1):
            await read(ctx, dut, 0, row)
        assert (len(edges), len(digits)) == (3, 2)

    run(dut, bench, background=[count_cycles(dut.edge_added, edges),
                                count_cycles(dut.digit_added, digits)])


def test_weight_rows_pass_through():
    config = configuration()
    rng = np.random.default_rng(4)
    words = random_words(config, 40, rng)
    dut = Aggregator(config)

    async def send(ctx):
        await put(ctx, dut.flits, [flit(config, Kind.WEIGHT, word, index=index % 32)
                                   for index, word in enumerate(words)], rng, idle=0.2)

    async def receive(ctx):
        rows = await get(ctx, dut.weights, len(words), rng, stall=0.3)
        assert [(row.index, row.payload) for row in rows] == [
            (index % 32, bits_of(config, word)) for index, word in enumerate(words)]

    run(dut, send, receive)


def test_flits_wait_while_rows_are_drained():
    """And while there are no edges: none is lost."""
    config = configuration()
    dut = Aggregator(config)

    async def bench(ctx):
        ctx.set(dut.drain.row, 9)
        for factor in range(1, 4):
            ctx.set(dut.drain.enable, 1)
            await put(ctx, dut.flits, [flit(config, Kind.AGGREGATE, [factor, 1])])
            await ctx.tick().repeat(3)
            await fill(ctx, dut, 0, (5, 3, 1))
            await ctx.tick().repeat(5)
            ctx.set(dut.drain.enable, 0)
            await ctx.tick().repeat(8)
        assert await read(ctx, dut, 0, 5) == [18, 9]

    run(dut, bench)
