"""EdgeFetch: the words of every stream, in order, and never more than there is room for."""

import numpy as np
import pytest

from hypercast.rtl.aggregation.edge_fetch import EdgeFetch
from hypercast.rtl.config import Config
from tests.bench import MemoryModel, run
from tests.rtl.aggregation.edge_sets import EdgeSet, random_edge_set


@pytest.mark.parametrize(("changes", "latency", "stall"), [
    ({}, 1, 0.0),
    ({"lanes": 16, "eject": 2, "dimensions": 3}, 12, 0.2),
    ({"lanes": 2, "eject": 4, "dimensions": 1, "edge_buffer": 4}, 5, 0.3),
    ({"planes": 1, "dimensions": 0, "edge_buffer": 8}, 2, 0.0),
])
def test_streams(changes, latency, stall):
    fields = dict(dimensions=2, lanes=4, planes=4, eject=1, accumulator_rows=16, weight_rows=16,
                  channel_words=4096, read_buffer=8)
    config = Config(**{**fields, **changes})
    rng = np.random.default_rng(7)
    dut = EdgeFetch(config)
    memory = MemoryModel(config, rng, latency=latency, stall=stall)
    sets = [random_edge_set(config, rng, messages=40), EdgeSet(config),
            random_edge_set(config, rng, messages=40, longest=20)]

    async def bench(ctx):
        address = 1
        for edge_set in sets:
            begin, address = address, edge_set.store(memory.channels[1], address, rng)
            ctx.set(dut.start, 1)
            ctx.set(dut.edge_set, begin)
            await ctx.tick()
            ctx.set(dut.start, 0)
            await use_up(ctx, edge_set.words())

    async def use_up(ctx, expected):
        """Check every word that arrives; give tokens back at random, at most one per lane."""
        held = [0] * config.streams
        while ctx.get(dut.busy) or any(expected) or any(held):
            for lane, freed in enumerate(dut.freed):
                full = [number for number in range(config.streams) if held[number]
                        and number // config.cores % config.eject == lane]
                give = bool(full) and rng.random() < 0.7
                ctx.set(freed.valid, give)
                if give:
                    number = int(rng.choice(full))
                    plane, source = divmod(number, config.cores)
                    ctx.set(freed.payload, plane // config.eject * config.cores + source)
                    held[number] -= 1
            given = any(ctx.get(freed.valid) for freed in dut.freed)
            _, _, valid, word = await ctx.tick().sample(dut.fill.valid, dut.fill.payload)
            assert ctx.get(dut.busy) or not given, "a token is left"
            if valid:
                assert word.word == expected[word.stream].pop(0)
                held[word.stream] += 1
                assert held[word.stream] <= config.edge_buffer
        for freed in dut.freed:
            ctx.set(freed.valid, 0)
        await ctx.tick().repeat(30)
        assert not ctx.get(dut.busy) and not ctx.get(dut.port.request.valid)

    run(dut, bench, background=[lambda ctx: memory.serve_read(ctx, dut.port)])
