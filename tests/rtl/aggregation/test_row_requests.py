# SPDX-License-Identifier: BSD-2-Clause
"""RowRequests: which words are asked for, and what is remembered of each."""

import numpy as np
import pytest

from hypercast.rtl.aggregation.row_requests import RowRequests
from hypercast.rtl.config import Config
from hypercast.rtl.isa import Opcode, encode
from tests.bench import get, put, run
from tests.rtl.aggregation.indexed_lists import Record, random_records, rows_read

CONFIG = Config(dimensions=2, lanes=4, planes=2, channel_words=1024, read_buffer=4)


async def start(ctx, dut, rows=0, **operands):
    ctx.set(dut.issue.instruction, encode(Opcode.AGGREGATE, **operands))
    ctx.set(dut.rows, rows)
    ctx.set(dut.start, 1)
    await ctx.tick()
    ctx.set(dut.start, 0)
    ctx.set(dut.issue.instruction, 0)
    ctx.set(dut.rows, 0)


@pytest.mark.parametrize("config", [
    CONFIG, CONFIG.replace(dimensions=6), CONFIG.replace(dimensions=0, planes=1),
    CONFIG.replace(planes=4, read_buffer=16)], ids=lambda config: f"{config.cores}, "
    f"{config.planes} planes")
@pytest.mark.parametrize(("idle", "stall"), [(0.0, 0.0), (0.4, 0.0), (0.0, 0.4), (0.2, 0.2)])
def test_each_row_named_is_asked_for(config, idle, stall):
    """Lists have fillers, repeated rows and gaps; they follow each other, in both channels."""
    rng = np.random.default_rng(7)
    dut = RowRequests(config)
    lists = [(number % 2, int(rng.integers(200)), random_records(config, count, rng, empty=empty))
             for number, (count, empty) in enumerate(
                 ((60, 0.3), (5, 1.0), (1, 0.0), (40, 0.8), (30, 0.0)))]
    expected = [rows_read(address, records) for _, address, records in lists]

    async def control(ctx):
        for channel, address, records in lists:
            assert not ctx.get(dut.busy) and not ctx.get(dut.command.valid)
            await start(ctx, dut, 1000, indexed=1, channel=channel, address=address)
            await put(ctx, dut.records, [record.bits(config) for record in records], rng, idle)
            while ctx.get(dut.busy | dut.command.valid):
                await ctx.tick()

    async def reader(ctx):
        for (channel, _, _), rows in zip(lists, expected, strict=True):
            found = await get(ctx, dut.command, len(rows), rng, stall)
            assert [(one.channel, one.address, one.count) for one in found] == [
                (channel, address, 1) for _, _, address in rows]

    async def sender(ctx):
        for rows in expected:
            found = await get(ctx, dut.wanted, len(rows), rng, stall)
            assert [(one.destinations, one.plane) for one in found] == [
                (destinations, plane) for destinations, plane, _ in rows]

    run(dut, control, reader, sender)


@pytest.mark.parametrize(("fields", "count"), [
    ({"channel": 1, "address": 77}, 1), ({"address": 3}, 1), ({"bypassed": 1}, 0)])
def test_without_an_index_all_rows_are_one_command(fields, count):
    """It is offered in the next cycle, and once; nothing is remembered."""
    dut = RowRequests(CONFIG)

    async def bench(ctx):
        for rows in (0, 9, 1000):
            await start(ctx, dut, rows, **fields)
            assert ctx.get(dut.command.valid) == count
            if count:
                [found] = await get(ctx, dut.command, 1)
                assert (found.channel, found.address, found.count) == (
                    fields.get("channel", 0), fields["address"], rows)
            for _ in range(5):
                assert not ctx.get(dut.command.valid | dut.wanted.valid | dut.busy)
                await ctx.tick()

    run(dut, bench)


def test_a_record_per_cycle():
    """Records without destinations take a cycle, too; a row is asked for in the next cycle."""
    dut = RowRequests(CONFIG)
    records = random_records(CONFIG, 100, np.random.default_rng(1), empty=0.5)

    async def bench(ctx):
        ctx.set(dut.command.ready, 1)
        ctx.set(dut.wanted.ready, 1)
        await start(ctx, dut, indexed=1)
        ctx.set(dut.records.valid, 1)
        for record in records:
            ctx.set(dut.records.payload.as_value(), record.bits(CONFIG))
            assert ctx.get(dut.records.ready)
            await ctx.tick()
            assert ctx.get(dut.command.valid) == (record.destinations != 0)

    run(dut, bench)


@pytest.mark.parametrize("read_buffer", [4, 16])
def test_as_many_wait_as_the_reader_asks_for(read_buffer):
    """They are three more than ``read_buffer``; records without destinations take no room."""
    config = CONFIG.replace(read_buffer=read_buffer)
    dut = RowRequests(config)

    async def give(ctx, record, cycles):
        """Offers a record again and again; returns how often it was taken."""
        ctx.set(dut.records.payload.as_value(), record.bits(config))
        ctx.set(dut.records.valid, 1)
        taken = 0
        for _ in range(cycles):
            taken += ctx.get(dut.records.ready)
            await ctx.tick()
        ctx.set(dut.records.valid, 0)
        return taken

    async def bench(ctx):
        ctx.set(dut.command.ready, 1)
        await start(ctx, dut, indexed=1)
        assert await give(ctx, Record(0, 0, 1), 50) == 50
        assert not ctx.get(dut.busy)
        assert await give(ctx, Record(1, 0, 1), 50) == read_buffer + 3
        assert ctx.get(dut.busy) and not ctx.get(dut.records.ready)
        await get(ctx, dut.wanted, 1)
        assert await give(ctx, Record(1, 0, 1), 5) == 1

    run(dut, bench)


def test_positions_are_modulo_the_channel():
    """A skip as wide as it can be leads to where its low bits say."""
    config = CONFIG.replace(dimensions=6)
    dut = RowRequests(config)
    records = [Record(1, 0, (1 << config.skip_width) - 1), Record(1, 0, 5),
               Record(1, 0, config.channel_words - 1)]

    async def control(ctx):
        await start(ctx, dut, indexed=1, address=20)
        await put(ctx, dut.records, [record.bits(config) for record in records])

    async def reader(ctx):
        assert [one.address for one in await get(ctx, dut.command, 3)] == [19, 24, 23]

    run(dut, control, reader, lambda ctx: get(ctx, dut.wanted, 3))
