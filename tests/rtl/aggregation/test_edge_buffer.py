"""EdgeBuffer against lists."""

import numpy as np
import pytest
from amaranth.hdl import Value

from hypercast.rtl.aggregation.edge_buffer import EdgeBuffer, edge, lane_streams
from hypercast.rtl.config import Config
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
        assert (record.weight, record.row, record.last) == (-3, 5, 1)


@pytest.mark.parametrize("changes", [
    {}, {"lanes": 16, "eject": 2}, {"lanes": 2, "edge_buffer": 8},
    {"dimensions": 0, "planes": 1, "lanes": 16, "element_width": 8, "edge_buffer": 4}])
def test_every_stream_keeps_its_order(changes):
    """Random words in and edges out, both in the same cycles; then all is cleared, thrice."""
    config = configuration(**changes)
    rng = np.random.default_rng(6)
    dut = EdgeBuffer(config)
    streams, chunks = lane_streams(config), config.word_width // 32

    async def cycle(ctx, held):
        """One cycle: perhaps a word into some stream, perhaps an edge out of one."""
        stream, taken = int(rng.integers(streams)), int(rng.integers(streams))
        words = -(-len(held[stream]) // chunks)
        fill = words < config.edge_buffer and rng.random() < 0.8
        new = [int(record) for record in rng.integers(0, 1 << 32, size=chunks)]
        ctx.set(dut.fill.valid, fill)
        ctx.set(dut.fill.payload.stream, stream)
        ctx.set(dut.fill.payload.word, sum(e << 32 * i for i, e in enumerate(new)))
        ctx.set(dut.stream, taken)
        assert ctx.get(dut.valid) == bool(held[taken])
        take = bool(held[taken]) and rng.random() < 0.9
        ctx.set(dut.take, take)
        if take:
            assert ctx.get(Value.cast(dut.edge)) == held[taken].pop(0)
            assert ctx.get(dut.freed.valid) == (len(held[taken]) % chunks == 0)
            assert ctx.get(dut.freed.payload) == taken
        else:
            assert not ctx.get(dut.freed.valid)
        if fill:
            held[stream] += new
        await ctx.tick()

    async def bench(ctx):
        for _ in range(3):
            held = [[] for _ in range(streams)]
            for _ in range(300):
                await cycle(ctx, held)
            ctx.set(dut.fill.valid, 0)
            ctx.set(dut.take, 0)
            ctx.set(dut.clear, 1)
            await ctx.tick()
            ctx.set(dut.clear, 0)

    run(dut, bench)
