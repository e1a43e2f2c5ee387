# SPDX-License-Identifier: BSD-2-Clause
"""RankReader: lists of ranks, of which a memory word holds several, once for each panel."""

import numpy as np
import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import RANK_WIDTH
from hypercast.rtl.lib.rank_reader import RankReader
from tests.bench import MemoryModel, get, run, shared
from tests.rtl.vector.vector_bench import pack_list

CONFIGS = {"tiny": PRESETS["tiny"], "bytes": PRESETS["test"].replace(element_width=8),
           "wide": PRESETS["test"].replace(lanes=16)}


@pytest.mark.parametrize("name,stall", [("tiny", 0.0), ("bytes", 0.3), ("wide", 0.0),
                                        ("wide", 0.4)])
def test_lists(name, stall):
    """Run after run; what is left of a list's last word belongs to no other list."""
    config = CONFIGS[name]
    rng = np.random.default_rng(len(name))
    reader = shared(RankReader, config)
    memory = MemoryModel(config, rng, latency=3, stall=stall)
    each = config.ranks_in_word

    async def program(ctx):
        for rows, panels in ((1, 1), (each, 2), (each + 1, 3), (5, 0), (3 * each - 1, 2), (2, 7)):
            ranks = rng.integers(1 << RANK_WIDTH, size=rows).tolist()
            words = pack_list(ranks, RANK_WIDTH, config.word_width)
            address = int(rng.integers(config.channel_words - len(words)))
            memory.channels[1][address:address + len(words)] = words
            for field, value in {"rows": rows, "panels": panels, "address": address,
                                 "start": 1}.items():
                ctx.set(getattr(reader, field), value)
            await ctx.tick()
            ctx.set(reader.start, 0)
            ctx.set(reader.panels, 0)
            assert await get(ctx, reader.o, rows * panels, rng, stall) == ranks * panels
            for _ in range(8):
                assert not ctx.get(reader.o.valid)
                assert not ctx.get(reader.source.command.valid)
                await ctx.tick()

    run(reader, program, background=[lambda ctx: memory.serve_words(ctx, reader.source)],
        cycles=3000)


def test_the_most_rows():
    """The command counts words, up to as many as a channel has."""
    config = CONFIGS["wide"]
    reader = shared(RankReader, config)

    async def program(ctx):
        ctx.set(reader.source.command.ready, 1)
        for rows in (8 * config.channel_words, 8 * config.channel_words - 7, 8, 1):
            ctx.set(reader.rows, rows)
            ctx.set(reader.panels, 1)
            ctx.set(reader.start, 1)
            await ctx.tick()
            ctx.set(reader.start, 0)
            command = reader.source.command
            assert ctx.get(command.valid)
            assert ctx.get(command.p.count) == -(-rows // config.ranks_in_word)
            await ctx.tick()
            assert not ctx.get(command.valid)

    run(reader, program)
