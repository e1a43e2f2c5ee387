# SPDX-License-Identifier: BSD-2-Clause
"""EdgeBuffer against lists."""

import numpy as np
import pytest
from amaranth.hdl import Value

from hypercast.rtl.aggregation.edge_buffer import (
    EdgeBuffer,
    aggregator_streams,
    edge,
)
from hypercast.rtl.config import Config
from hypercast.rtl.limits import refill_words
from tests.bench import run


def configuration(**changes):
    fields = dict(dimensions=2, lanes=4, planes=2, eject=1, accumulator_rows=16, weight_rows=16,
                  channel_words=64)
    return Config(**{**fields, **changes})


def test_edge_fields():
    """As docs/blocks.md gives them."""
    for width in (8, 16):
        layout = edge(configuration(element_width=width))
        assert layout.size == 32
        record = layout.from_bits(0x8000_0000 | 5 << 16 | (1 << width) - 3)
        assert (record.weight, record.row, record.end, record.last) == (-3, 5, 0, 1)
        assert layout.from_bits(0x4000_0000).end


@pytest.mark.parametrize("changes", [
    {}, {"lanes": 16, "eject": 2, "aggregation_rows": 128}, {"lanes": 2, "edge_buffer": 8},
    {"edge_buffer": 32},
    {"dimensions": 0, "planes": 1, "lanes": 16, "element_width": 8, "edge_buffer": 4}])
def test_every_stream_keeps_its_order(changes):
    """Random words in and edges out, both in the same cycles; then all is cleared, thrice."""
    config = configuration(**changes)
    rng = np.random.default_rng(6)
    dut = EdgeBuffer(config)
    streams, chunks = aggregator_streams(config), config.word_width // 32

    def random_word():
        """Edges of a word; in some, one marks the stream's end and the others do not count."""
        edges = [int(record) & ~(1 << 30) for record in rng.integers(0, 1 << 32, size=chunks)]
        if rng.random() < 0.3:
            edges[int(rng.integers(chunks))] |= 1 << 30
        return edges

    async def cycle(ctx, held, used):
        """One cycle: perhaps a word into some stream, perhaps an edge out of one."""
        stream, taken = int(rng.integers(streams)), int(rng.integers(streams))
        fill = len(held[stream]) < config.edge_buffer and rng.random() < 0.8
        new = random_word()
        ctx.set(dut.fill.valid, fill)
        ctx.set(dut.fill.payload.stream, stream)
        ctx.set(dut.fill.payload.word, sum(e << 32 * i for i, e in enumerate(new)))
        ctx.set(dut.stream, taken)
        assert ctx.get(dut.valid) == bool(held[taken])
        take = bool(held[taken]) and rng.random() < 0.9
        ctx.set(dut.take, take)
        freed = False
        if take:
            record = held[taken][0].pop(0)
            assert ctx.get(Value.cast(dut.edge)) == record
            if record >> 30 & 1 or not held[taken][0]:
                held[taken].pop(0)
                used[taken] += 1
                freed = used[taken] % refill_words(config) == 0
            assert ctx.get(dut.freed.payload) == taken
        assert ctx.get(dut.freed.valid) == freed
        if fill:
            held[stream].append(new)
        await ctx.tick()

    async def bench(ctx):
        for _ in range(3):
            held = [[] for _ in range(streams)]
            used = [0] * streams
            for _ in range(300):
                await cycle(ctx, held, used)
            ctx.set(dut.fill.valid, 0)
            ctx.set(dut.take, 0)
            ctx.set(dut.clear, 1)
            await ctx.tick()
            ctx.set(dut.clear, 0)

    run(dut, bench)
