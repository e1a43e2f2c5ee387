# SPDX-License-Identifier: BSD-2-Clause
"""PanelIndex turns index entries into commands."""

import numpy as np
import pytest

from hypercast.host.compiler.packing import pack_records
from hypercast.rtl.array.panel_index import PanelIndex
from hypercast.rtl.config import PRESETS
from tests.bench import MemoryModel, get, run
from tests.host.sparse_model import integers


@pytest.mark.parametrize("lanes", [2, 4, 8, 16])
@pytest.mark.parametrize("stall", [0.0, 0.4])
def test_commands(lanes, stall):
    """Indices of any length, one after the other; rests of words are skipped."""
    config = PRESETS["test"].replace(lanes=lanes)
    rng = np.random.default_rng(lanes)
    index = PanelIndex(config)
    memory = MemoryModel(config, rng=rng, latency=3, stall=stall)

    async def bench(ctx):
        for panels in (5, 1, 0, 4, 7, 2):
            entries = rng.integers(1, config.channel_words, (panels, 2)).astype("<u4")
            words = integers(pack_records(entries, config))
            address = int(rng.integers(config.channel_words - len(words)))
            memory.channels[1][address:address + len(words)] = words
            ctx.set(index.address, address)
            ctx.set(index.panels, panels)
            ctx.set(index.start, 1)
            await ctx.tick()
            ctx.set(index.start, 0)
            commands = await get(ctx, index.o, panels, rng=rng, stall=stall)
            assert [(command.channel, command.address, command.count) for command in commands] \
                == [(0, int(start), int(count)) for start, count in entries]
            for _ in range(20):
                await ctx.tick()
                assert not ctx.get(index.o.valid)

    run(index, bench, background=[lambda ctx: memory.serve_words(ctx, index.source)])
