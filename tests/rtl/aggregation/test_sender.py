# SPDX-License-Identifier: BSD-2-Clause
"""Sender: panel and send list become flits."""

import numpy as np
import pytest

from hypercast.rtl.aggregation.sender import Sender
from hypercast.rtl.config import Config
from hypercast.rtl.isa import Kind, Opcode, encode
from tests.bench import MemoryModel, get, run
from tests.rtl.aggregation.edge_sets import pack, random_words
from tests.rtl.aggregation.indexed_lists import Record, random_records, rows_read
from tests.rtl.storing import store


def configuration(**changes):
    fields = dict(dimensions=2, lanes=4, planes=2, accumulator_rows=16, weight_rows=16,
                  channel_words=4096, read_buffer=8)
    return Config(**{**fields, **changes})


def store_panel(memory, config, channel, address, rows, rng):
    """Random words at ``address``; returns them as integers."""
    words = [sum(int(element) % (1 << config.element_width) << index * config.element_width
                 for index, element in enumerate(word))
             for word in random_words(config, rows, rng)]
    memory.channels[channel][address:address + rows] = words
    return words


def store_list(memory, config, address, rows, rng, empty):
    """Random send list at ``address``; returns its (destinations, plane)."""
    destinations = [0 if rng.random() < empty else int.from_bytes(rng.bytes(8), "little")
             % ((1 << config.cores) - 1) + 1 for _ in range(rows)]
    planes = [int(rng.integers(config.planes)) for _ in range(rows)]
    records = pack([one | plane << config.cores
                    for one, plane in zip(destinations, planes, strict=True)],
                   config.send_record_width, config.word_width)
    memory.channels[1][address:address + len(records)] = records
    return list(zip(destinations, planes, strict=True))


def store_indexed(memory, config, address, records):
    """The records of an indexed send list at ``address``."""
    words = pack([record.bits(config) for record in records],
                 config.send_record_width, config.word_width)
    memory.channels[1][address:address + len(words)] = words


async def start(ctx, dut, rows, **operands):
    ctx.set(dut.issue.instruction, encode(Opcode.AGGREGATE, **operands))
    ctx.set(dut.rows, rows)
    ctx.set(dut.start, 1)
    await ctx.tick()
    ctx.set(dut.start, 0)
    ctx.set(dut.issue.instruction, 0)
    ctx.set(dut.rows, 0)


CONFIGURATIONS = pytest.mark.parametrize(("changes", "latency", "stall"), [
    ({}, 1, 0.0),
    ({"lanes": 2, "element_width": 8, "planes": 1}, 4, 0.3),
    ({"lanes": 16, "planes": 4, "dimensions": 4}, 20, 0.1),
    ({"dimensions": 6, "lanes": 2}, 2, 0.2),
    ({"dimensions": 5, "lanes": 16}, 3, 0.2),
    ({"dimensions": 0, "planes": 1, "lanes": 8}, 2, 0.4),
])


@CONFIGURATIONS
def test_rows_become_flits(changes, latency, stall):
    """Several panels in a row, with and without rows, from both channels."""
    config = configuration(**changes)
    rng = np.random.default_rng(3)
    dut = Sender(config)
    memory = MemoryModel(config, rng, latency=latency, stall=stall)
    panels = []
    for rows, empty in ((23, 0.3), (0, 0.0), (1, 0.0), (40, 0.8), (9, 1.0), (17, 0.0)):
        channel, address, send_list = len(panels) % 2, 100 * len(panels), 1000 + 400 * len(panels)
        words = store_panel(memory, config, channel, address, rows, rng)
        records = store_list(memory, config, send_list, rows, rng, empty)
        expected = [(*record, word) for record, word in zip(records, words, strict=True)
                    if record[0]]
        panels.append((rows, channel, address, send_list, expected))
    sent = [0]

    async def control(ctx):
        for rows, channel, address, send_list, _ in panels:
            await start(ctx, dut, rows, channel=channel, address=address, send_list=send_list)
            assert ctx.get(dut.busy) == (rows != 0)
            while ctx.get(dut.busy):
                await ctx.tick()

    async def receive(ctx):
        for _, _, _, _, expected in panels:
            flits = await get(ctx, dut.flits, len(expected), rng, stall=stall)
            assert [(flit.destinations, flit.plane, flit.payload) for flit in flits] == expected
            assert all((flit.source, flit.kind.value, flit.digit, flit.index)
                       == (0, Kind.AGGREGATE, 0, 0) for flit in flits)
        await ctx.tick()
        assert sent[0] == sum(len(expected) for *_, expected in panels)

    async def count(ctx):
        async for _, _, strobe in ctx.tick().sample(dut.sent):
            sent[0] += strobe

    run(dut, control, receive, background=[
        count, lambda ctx: memory.serve_read(ctx, dut.data),
        lambda ctx: memory.serve_read(ctx, dut.list)])


@pytest.mark.parametrize("idle,stall", [(0.0, 0.0), (0.5, 0.2)])
def test_bypassed_rows_become_flits(idle, stall):
    """Rows that the vector unit keeps, while it stores them, and again afterwards."""
    config = configuration()
    rng = np.random.default_rng(5)
    dut = Sender(config)
    memory = MemoryModel(config, rng, latency=10, stall=stall)
    words = store_panel(memory, config, 0, 0, 14, rng)
    records = store_list(memory, config, 1000, 14, rng, 0.3)
    memory.channels[0][:] = 0
    expected = [(*record, word) for record, word in zip(records, words, strict=True)
                if record[0]]

    async def control(ctx):
        for turn in range(3):
            await ctx.tick()
            await start(ctx, dut, 14, bypassed=1, bypass_base=5, chained=turn == 0, send_list=1000)
            while ctx.get(dut.busy):
                await ctx.tick()

    async def vector_unit(ctx):
        await store(ctx, dut.bypass, 5, words, rng, idle)

    async def receive(ctx):
        for _ in range(3):
            flits = await get(ctx, dut.flits, len(expected), rng, stall=stall)
            assert [(flit.destinations, flit.plane, flit.payload) for flit in flits] == expected

    run(dut, control, receive, vector_unit, background=[
        lambda ctx: memory.serve_read(ctx, dut.data),
        lambda ctx: memory.serve_read(ctx, dut.list)])


@CONFIGURATIONS
def test_rows_of_indexed_lists_become_flits(changes, latency, stall):
    """Indexed lists, some without records, take turns with other panels, from both channels."""
    config = configuration(**changes)
    rng = np.random.default_rng(6)
    dut = Sender(config)
    memory = MemoryModel(config, rng, latency=latency, stall=stall)
    matrices = [store_panel(memory, config, channel, 0, 900, rng) for channel in range(2)]
    kept = store_panel(memory, config, 0, 1000, 11, rng)
    panels = []  # rows, operands and the flits to come
    for number, (kind, rows, empty) in enumerate((
            ("indexed", 60, 0.3), ("dense", 7, 0.3), ("indexed", 1, 0.0), ("indexed", 0, 0.0),
            ("bypassed", 11, 0.2), ("indexed", 23, 1.0), ("indexed", 37, 0.0), ("dense", 0, 0.0),
            ("indexed", 41, 0.9), ("dense", 30, 0.0), ("bypassed", 11, 0.0))):
        channel, address = number // 2 % 2, int(rng.integers(300))
        operands = {"channel": channel, "address": address, "send_list": 1100 + 270 * number}
        if kind == "indexed":
            records = random_records(config, rows, rng, empty=empty)
            store_indexed(memory, config, operands["send_list"], records)
            expected = [(destinations, plane, matrices[channel][row])
                        for destinations, plane, row in rows_read(address, records)]
            operands["indexed"] = 1
        else:
            records = store_list(memory, config, operands["send_list"], rows, rng, empty)
            words = matrices[channel][address:]
            if kind == "bypassed":
                words = kept
                operands |= {"bypassed": 1, "bypass_base": 3}
            expected = [(*record, word) for record, word in zip(records, words, strict=False)
                        if record[0]]
        panels.append((rows, operands, expected))

    async def control(ctx):
        await store(ctx, dut.bypass, 3, kept, rng, 0.0)
        for rows, operands, _ in panels:
            await start(ctx, dut, rows, **operands)
            assert ctx.get(dut.busy) == (rows != 0)
            while ctx.get(dut.busy):
                await ctx.tick()
            assert not ctx.get(dut.flits.valid)

    async def receive(ctx):
        for _, _, expected in panels:
            flits = await get(ctx, dut.flits, len(expected), rng, stall=stall)
            assert [(flit.destinations, flit.plane, flit.payload) for flit in flits] == expected
            assert all((flit.source, flit.kind.value, flit.digit, flit.index)
                       == (0, Kind.AGGREGATE, 0, 0) for flit in flits)

    run(dut, control, receive, background=[
        lambda ctx: memory.serve_read(ctx, dut.data),
        lambda ctx: memory.serve_read(ctx, dut.list)])


def test_rows_without_destinations_are_not_read():
    """An indexed list may lead over words that do not exist, or nowhere."""
    config = configuration()
    dut = Sender(config)
    memory = MemoryModel(config, latency=3)
    store_indexed(memory, config, 1000, [Record(0, 0, 4000), Record(0, 1, 90), Record(0, 1, 90)])
    asked = []

    async def control(ctx):
        await start(ctx, dut, 3, indexed=1, send_list=1000)
        while ctx.get(dut.busy):
            await ctx.tick()
        await ctx.tick().repeat(10)
        assert not any(asked) and len(asked) > 10

    async def watch(ctx):
        async for _, _, *valid in ctx.tick().sample(dut.data.request.valid, dut.flits.valid):
            asked.append(any(valid))

    run(dut, control, background=[watch, lambda ctx: memory.serve_read(ctx, dut.list)])


@pytest.mark.parametrize("lanes", [4, 16])
def test_a_row_of_an_indexed_list_per_cycle(lanes):
    """A row is sent in every cycle if its word comes within ``read_buffer`` - 3, as of a panel."""
    config = configuration(lanes=lanes, read_buffer=16)
    rng = np.random.default_rng(8)
    dut = Sender(config)
    memory = MemoryModel(config, latency=13)
    rows = 200
    words = store_panel(memory, config, 0, 0, 1000, rng)
    records = random_records(config, rows, rng, empty=0.0)
    store_indexed(memory, config, 1200, records)
    sent = []

    async def control(ctx):
        await start(ctx, dut, rows, indexed=1, send_list=1200)
        flits = await get(ctx, dut.flits, rows)
        assert [flit.payload for flit in flits] == [
            words[address] for _, _, address in rows_read(0, records)]
        assert not ctx.get(dut.busy)
        first = sent.index(1)
        assert all(sent[first:first + rows])

    async def watch(ctx):
        async for _, _, one in ctx.tick().sample(dut.sent):
            sent.append(one)

    run(dut, control, background=[
        watch, lambda ctx: memory.serve_read(ctx, dut.data),
        lambda ctx: memory.serve_read(ctx, dut.list)])


@pytest.mark.parametrize("lanes", [4, 16])
def test_a_row_per_cycle_per_cycle(lanes):
    """Without stalls, a row is sent in every cycle; a network that takes none shows as blocked."""
    config = configuration(lanes=lanes, read_buffer=16)
    rng = np.random.default_rng(4)
    dut = Sender(config)
    memory = MemoryModel(config, latency=4)
    rows = 200
    store_panel(memory, config, 0, 0, rows, rng)
    store_list(memory, config, 1000, rows, rng, 0.0)

    async def control(ctx):
        ctx.set(dut.flits.ready, 1)
        await start(ctx, dut, rows, send_list=1000)
        while not ctx.get(dut.sent):
            await ctx.tick()
        for _ in range(rows // 2):
            assert ctx.get(dut.sent)
            await ctx.tick()
        ctx.set(dut.flits.ready, 0)
        for _ in range(20):
            assert ctx.get(dut.blocked) and not ctx.get(dut.sent)
            await ctx.tick()
        ctx.set(dut.flits.ready, 1)
        for _ in range(rows // 2):
            assert ctx.get(dut.sent) and not ctx.get(dut.blocked)
            await ctx.tick()
        assert not ctx.get(dut.busy)

    run(dut, control, background=[
        lambda ctx: memory.serve_read(ctx, dut.data),
        lambda ctx: memory.serve_read(ctx, dut.list)])
