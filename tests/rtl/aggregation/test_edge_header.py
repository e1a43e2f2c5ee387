# SPDX-License-Identifier: BSD-2-Clause
"""EdgeHeader: total and descriptors."""

import numpy as np
import pytest

from hypercast.rtl.aggregation.edge_header import EdgeHeader
from hypercast.rtl.config import Config
from tests.bench import MemoryModel, run
from tests.rtl.aggregation.edge_sets import pack


@pytest.mark.parametrize(("dimensions", "lanes", "planes", "stall"), [
    (4, 16, 4, 0.0), (2, 4, 2, 0.2), (1, 2, 1, 0.3), (0, 8, 1, 0.0), (6, 16, 4, 0.1)])
def test_header(dimensions, lanes, planes, stall):
    """Two headers in a row: the rest of the first's last word is not taken for the second."""
    config = Config(dimensions=dimensions, lanes=lanes, planes=planes, channel_words=2048,
                    read_buffer=8)
    rng = np.random.default_rng(2)
    dut = EdgeHeader(config)
    memory = MemoryModel(config, rng, latency=3, stall=stall)
    headers = []
    for address in (5, 1000):
        records = [int(rng.integers(4096)), 0,
                   *(int(value) for value in rng.integers(0, 2048, size=2 * config.streams))]
        words = pack(records, 32, config.word_width)
        memory.channels[1][address:address + len(words)] = words
        headers.append((address, records))
    totals = []

    async def bench(ctx):
        for address, records in headers:
            ctx.set(dut.start, 1)
            ctx.set(dut.address, address)
            await ctx.tick()
            ctx.set(dut.start, 0)
            assert ctx.get(dut.busy)
            received = []
            while ctx.get(dut.busy):
                _, _, valid, entry = await ctx.tick().sample(
                    dut.descriptors.valid, dut.descriptors.payload)
                if valid:
                    received += [entry.address, entry.words]
            assert received == records[2:]
            assert totals[-1] == records[0]
        assert len(totals) == 2

    async def watch(ctx):
        async for _, _, valid, total in ctx.tick().sample(dut.total.valid, dut.total.payload):
            if valid:
                totals.append(total)

    run(dut, bench, background=[watch, lambda ctx: memory.serve_read(ctx, dut.port)])
