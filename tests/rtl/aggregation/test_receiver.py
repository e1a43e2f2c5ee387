# SPDX-License-Identifier: BSD-2-Clause
"""Receiver: aggregation, reductions and weight rows against NumPy."""

import numpy as np
import pytest

from hypercast.rtl.aggregation.receiver import Receiver
from hypercast.rtl.config import Config
from hypercast.rtl.isa import Kind, Opcode, encode
from tests.bench import MemoryModel, get, put, run
from tests.rtl.aggregation.edge_sets import (
    EdgeSet,
    Message,
    bits_of,
    random_edge_set,
    random_words,
)


def configuration(**changes):
    fields = dict(dimensions=2, lanes=4, planes=2, eject=1, accumulator_rows=16, weight_rows=32,
                  channel_words=4096, read_buffer=8)
    return Config(**{**fields, **changes})


async def start(ctx, dut, strobe, opcode, **operands):
    ctx.set(dut.issue.instruction, encode(opcode, **operands))
    ctx.set(strobe, 1)
    await ctx.tick()
    ctx.set(strobe, 0)
    ctx.set(dut.issue.instruction, 0)


async def drain(ctx, dut, config, buffer):
    """All rows, one per cycle, beginning in the very first cycle."""
    rows = []
    ctx.set(dut.drain.buffer, buffer)
    for row in range(config.strip_rows + dut.drain.signature.LATENCY):
        ctx.set(dut.drain.row, row)
        ctx.set(dut.drain.enable, row < config.strip_rows)
        _, _, valid, data = await ctx.tick().sample(dut.drain.valid, dut.drain.data)
        assert valid == (row >= dut.drain.signature.LATENCY)
        if valid:
            rows.append(list(data))
    ctx.set(dut.drain.enable, 0)
    return np.array(rows, dtype=np.int64)


async def idle(ctx, busy):
    while ctx.get(busy):
        await ctx.tick()


def reduce_flit(config, plane, row, digit, word):
    return {"destinations": 1, "source": 0, "plane": plane, "kind": Kind.REDUCE, "digit": digit,
            "index": row, "payload": bits_of(config, word)}


def weight_flit(config, plane, index, word):
    return {"destinations": 1, "source": 0, "plane": plane, "kind": Kind.WEIGHT, "digit": 0,
            "index": index, "payload": bits_of(config, word)}


@pytest.mark.parametrize(("changes", "latency", "stall"), [
    ({}, 1, 0.0),
    ({"planes": 2, "eject": 2, "edge_buffer": 4, "aggregation_rows": 64}, 5, 0.3),
    ({"planes": 4, "eject": 2, "dimensions": 1, "lanes": 2, "element_width": 8}, 3, 0.2),
    pytest.param({"planes": 4, "eject": 4, "dimensions": 3, "lanes": 16, "read_buffer": 4}, 20,
                 0.1, marks=pytest.mark.slow),
    ({"planes": 1, "dimensions": 0, "lanes": 8, "element_width": 8}, 2, 0.5),
    ({"planes": 4, "eject": 1, "dimensions": 4, "lanes": 16, "edge_buffer": 8}, 9, 0.2),
    ({"planes": 4, "eject": 4, "edge_buffer": 32, "read_buffer": 64}, 64, 0.1),
    ({"planes": 4, "eject": 2, "lanes": 16, "edge_buffer": 8, "read_buffer": 64}, 64, 0.0),
])
def test_aggregation(changes, latency, stall):
    """Edge sets in a row, one of them empty, one twice, into alternating buffers.

    Some are prefetched, perhaps in vain.
    """
    config = configuration(**changes)
    rng = np.random.default_rng(5)
    dut = Receiver(config)
    memory = MemoryModel(config, rng, latency=latency, stall=stall)
    sets = [random_edge_set(config, rng), random_edge_set(config, rng, longest=20, messages=20),
            EdgeSet(config)]
    addresses, address = [], 3
    for edge_set in sets:
        addresses.append(address)
        address = edge_set.store(memory.channels[1], address, rng)
    order = (0, 1, 1, 2, 2, 0, 0)
    sets, addresses = ([values[index] for index in order] for values in (sets, addresses))
    flits = [[edge_set.port_flits(port, rng) for edge_set in sets] for port in range(config.eject)]
    started = 0
    added = [0]

    async def control(ctx):
        nonlocal started
        for index, edge_set in enumerate(sets):
            for address in rng.choice(addresses, size=int(rng.integers(3))):
                await start(ctx, dut, dut.start, Opcode.AGGREGATE, edge_set=address, prefetch=1)
                for _ in range(int(rng.integers(2 * latency))):
                    assert not ctx.get(dut.busy)
                    await ctx.tick()
            await start(ctx, dut, dut.start, Opcode.AGGREGATE, buffer=index % 2,
                        edge_set=addresses[index])
            assert ctx.get(dut.busy)
            started += 1
            await idle(ctx, dut.busy)
            assert np.array_equal(await drain(ctx, dut, config, index % 2), edge_set.sums())
        assert added[0] == sum(edge_set.total for edge_set in sets)

    def send(port):
        async def bench(ctx):
            for index, batch in enumerate(flits[port]):
                while started <= index:
                    await ctx.tick()
                await put(ctx, dut.flits[port], batch, rng, idle=stall / 2)
        return bench

    async def count(ctx):
        async for _, _, edges in ctx.tick().sample(dut.edge_count):
            added[0] += edges

    run(dut, control, *(send(port) for port in range(config.eject)),
        background=[count, lambda ctx: memory.serve_read(ctx, dut.edges)])


@pytest.mark.parametrize(("lanes", "planes", "eject", "longest", "least"), [
    (16, 4, 1, 1, 0.95),
    (16, 4, 4, 1, 0.95),
    (16, 4, 4, 6, 0.95),
    (4, 2, 2, 3, 0.85),
])
def test_buffered_edges_are_added_without_a_pause(lanes, planes, eject, longest, least):
    """Runs as short as one edge, of alternating sources, cost one cycle per edge and aggregator."""
    config = configuration(dimensions=2, lanes=lanes, planes=planes, eject=eject, edge_buffer=8)
    rng = np.random.default_rng(1)
    dut = Receiver(config)
    memory = MemoryModel(config)
    words = random_words(config, 400, rng)
    messages = [
        Message(plane=index % planes, source=index // planes % config.cores, word=word,
                edges=[(int(rng.integers(16)), 1)] * (1 + index // planes % longest))
        for index, word in enumerate(words)]
    edge_set = EdgeSet(config, messages)
    edge_set.store(memory.channels[1], 0, rng)
    edges = []

    async def control(ctx):
        await start(ctx, dut, dut.start, Opcode.AGGREGATE)
        while ctx.get(dut.busy):
            _, _, count = await ctx.tick().sample(dut.edge_count)
            edges.append(count)
        assert np.array_equal(await drain(ctx, dut, config, 0), edge_set.sums())

    def send(port):
        flits = [m.flit(config) for m in messages if m.plane % eject == port]

        async def bench(ctx):
            for _ in range(200):  # until the buffers are full
                await ctx.tick()
            await put(ctx, dut.flits[port], flits)
        return bench

    run(dut, control, *(send(port) for port in range(eject)),
        background=[lambda ctx: memory.serve_read(ctx, dut.edges)])
    busy = np.flatnonzero(edges)
    cycles = busy[-1] - busy[0] + 1
    assert edge_set.total / eject >= least * cycles
    assert len(edges) - busy[-1] < 10, "the receiver is idle soon after the last edge"


@pytest.mark.parametrize("changes", [
    {"planes": 4, "eject": 4, "lanes": 2, "aggregation_rows": 32},
    {"dimensions": 0, "planes": 1, "element_width": 8}])
def test_all_kinds_mixed(changes):
    """Aggregation into one buffer, digits into the other, and weight rows passing through."""
    config = configuration(**changes)
    rng = np.random.default_rng(8)
    dut = Receiver(config)
    memory = MemoryModel(config, rng, latency=4, stall=0.1)
    edge_set = random_edge_set(config, rng)
    edge_set.store(memory.channels[1], 7, rng)
    core, tiles = config.cores - 1, config.cores
    count = config.cores * config.lanes * config.digits  # one row in ``cores`` is ours
    reductions = np.zeros((config.strip_rows, config.lanes), dtype=np.int64)
    others = []
    for index, word in enumerate(random_words(config, count, rng)):
        digit, plane = index % config.digits, int(rng.integers(config.planes))
        row = int(rng.integers(config.lanes))
        reductions[row] += word << config.element_width * digit
        others.append(reduce_flit(config, plane, row, digit, word))
    for index, word in enumerate(random_words(config, 30, rng)):
        others.append(weight_flit(config, int(rng.integers(config.planes)), index, word))
    wrap = 1 << config.accumulator_width
    reductions = (reductions + wrap // 2) % wrap - wrap // 2

    def send(port):
        flits = edge_set.port_flits(port, rng)
        mine = [flit for flit in others if flit["plane"] % config.eject == port]
        for flit in mine:
            flits.insert(int(rng.integers(len(flits) + 1)), flit)

        async def bench(ctx):
            for _ in range(4):
                await ctx.tick()
            await put(ctx, dut.flits[port], flits, rng, idle=0.1)
        return bench

    async def control(ctx):
        ctx.set(dut.core, core)
        await start(ctx, dut, dut.reduce_start, Opcode.GRADIENT, buffer=1, panels=tiles,
                    digits=config.digits)
        assert ctx.get(dut.reduction_busy)
        await start(ctx, dut, dut.start, Opcode.AGGREGATE, edge_set=7)
        await idle(ctx, dut.reduction_busy)
        assert np.array_equal(await drain(ctx, dut, config, 1), reductions)
        await idle(ctx, dut.busy)
        assert np.array_equal(await drain(ctx, dut, config, 0), edge_set.sums())

    rows = []

    def collect(port):
        async def bench(ctx):
            while True:
                [row] = await get(ctx, dut.weights[port], 1, rng, stall=0.3)
                rows.append((row.index, row.payload))
        return bench

    async def complete(ctx):
        while len(rows) < 30:
            await ctx.tick()
        assert sorted(rows) == sorted(
            (flit["index"], flit["payload"]) for flit in others if flit["kind"] == Kind.WEIGHT)

    async def watch(ctx):
        async for _, _, error in ctx.tick().sample(dut.error):
            assert not error

    run(dut, control, complete, *(send(port) for port in range(config.eject)),
        background=[watch, *(collect(port) for port in range(config.eject)),
                    lambda ctx: memory.serve_read(ctx, dut.edges)])


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_additions_wait_while_rows_are_drained(share):
    """Additions to one buffer go on between the cycles in which the other is drained."""
    config = configuration(planes=4, eject=2, lanes=2, edge_buffer=8)
    rng = np.random.default_rng(11)
    dut = Receiver(config)
    memory = MemoryModel(config)
    edge_set = random_edge_set(config, rng)
    edge_set.store(memory.channels[1], 0, rng)
    drained, added = [False], []

    async def control(ctx):
        await start(ctx, dut, dut.start, Opcode.AGGREGATE)
        ctx.set(dut.drain.buffer, 1)
        while ctx.get(dut.busy):
            drained.append(bool(rng.random() < share))
            ctx.set(dut.drain.enable, drained[-1])
            ctx.set(dut.drain.row, int(rng.integers(config.strip_rows)))
            _, _, edges, valid, row = await ctx.tick().sample(
                dut.edge_count, dut.drain.valid, dut.drain.data)
            assert not (edges and drained[-2]), "an edge was added as a row was drained"
            assert not valid or not any(row)
            added.append(edges)
        ctx.set(dut.drain.enable, 0)
        await ctx.tick().repeat(dut.drain.signature.LATENCY)
        assert np.array_equal(await drain(ctx, dut, config, 0), edge_set.sums())
        assert sum(added) == edge_set.total
        busy = np.flatnonzero(added)
        free = drained[busy[0]:busy[-1] + 1].count(False)
        assert edge_set.total / config.eject >= 0.5 * free

    run(dut, control, *(
        lambda ctx, port=port: put(ctx, dut.flits[port], edge_set.port_flits(port, rng))
        for port in range(config.eject)),
        background=[lambda ctx: memory.serve_read(ctx, dut.edges)])


def test_unexpected_digit_is_an_error():
    config = configuration()
    dut = Receiver(config)
    errors = []

    async def send(ctx):
        await put(ctx, dut.flits[0], [reduce_flit(config, 0, 3, 1, [1] * config.lanes)])
        for _ in range(10):
            await ctx.tick()
        assert sum(errors) == 1
        assert not ctx.get(dut.reduction_busy)

    async def watch(ctx):
        async for _, _, error in ctx.tick().sample(dut.error):
            errors.append(error)

    run(dut, send, background=[watch])


@pytest.mark.parametrize("ports", [(0, 0), (0, 1)])
@pytest.mark.parametrize("digit, fits", [(0x3FFF, True), (0x4000, False), (-0x4000, True),
                                         (-0x4001, False)])
def test_a_sum_that_does_not_fit_is_reported(ports, digit, fits):
    """Sums of an aggregator when they are added up, of several when accumulators are drained."""
    config = configuration(planes=2, eject=2)
    dut = Receiver(config)
    found = []

    async def send(ctx):
        for port in ports:  # the second digit is the limit's, or one that goes beyond it
            flit = reduce_flit(config, port, 3, config.digits - 1, [digit] + [0] * (
                config.lanes - 1))
            await put(ctx, dut.flits[port], [flit])
        for _ in range(10):
            await ctx.tick()
        assert any(found) == (not fits and ports == (0, 0))
        await drain(ctx, dut, config, 0)
        for _ in range(3):
            await ctx.tick()
        assert any(found) == (not fits)

    async def watch(ctx):
        async for _, _, overflow in ctx.tick().sample(dut.overflow):
            found.append(overflow)

    run(dut, send, background=[watch])


def test_flit_waits_for_the_edge_set():
    """A flit that comes before its edges starves its aggregator, and is not lost."""
    config = configuration()
    rng = np.random.default_rng(2)
    dut = Receiver(config)
    memory = MemoryModel(config, latency=30)
    edge_set = random_edge_set(config, rng, messages=10)
    edge_set.store(memory.channels[1], 0, rng)
    starved = []

    async def control(ctx):
        await start(ctx, dut, dut.start, Opcode.AGGREGATE)
        await put(ctx, dut.flits[0], edge_set.port_flits(0, rng))
        await idle(ctx, dut.busy)
        assert np.array_equal(await drain(ctx, dut, config, 0), edge_set.sums())
        assert 30 < sum(starved) < 30 * 10

    async def watch(ctx):
        async for _, _, lanes in ctx.tick().sample(dut.starved):
            starved.append(lanes)

    run(dut, control, background=[watch, lambda ctx: memory.serve_read(ctx, dut.edges)])
