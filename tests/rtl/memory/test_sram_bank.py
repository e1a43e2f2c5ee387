# SPDX-License-Identifier: BSD-2-Clause
"""SramBank: reads what was written, whatever stalls; latency and rate as promised."""

import numpy as np
import pytest

from hypercast.rtl.config import Config
from hypercast.rtl.memory.sram_bank import SramBank
from tests.bench import get, put, run
from tests.rtl.flips import count_cycles, flip, parity_memories  # noqa: F401
from tests.rtl.memory.channel_bench import check_contents, time_bursts, time_mixture

CONFIGS = [
    Config(lanes=2, element_width=8, channel_words=64),
    Config(lanes=16, element_width=16, channel_words=128),
]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.word_width}bit")
@pytest.mark.parametrize(("idle", "stall"), [(0.0, 0.0), (0.6, 0.0), (0.0, 0.6), (0.5, 0.3)])
def test_contents(config, idle, stall):
    check_contents(SramBank(config), config, 1, idle, stall)


@pytest.mark.parametrize("lengths", [[1], [16], [1] * 20, [3, 16, 1, 1, 2, 9]])
def test_latency_and_rate(lengths):
    assert time_bursts(SramBank(CONFIGS[0]), lengths) == (1, sum(lengths))


def test_one_access_per_cycle():
    assert 160 <= time_mixture(SramBank(CONFIGS[0]), 80) <= 163


@pytest.mark.parametrize("stall", [0.0, 0.7])
def test_a_changed_word_is_reported(stall, parity_memories):  # noqa: F811
    """Once for each time it is taken, however long it waits."""
    config = CONFIGS[1]
    dut, rng, faults = SramBank(config), np.random.default_rng(1), []

    async def bench(ctx):
        channel = dut.channel
        await put(ctx, channel.write, [{"address": word, "data": word} for word in range(64)])
        flip(ctx, parity_memories[0], 20, config.word_width)
        for reads in range(1, 4):
            await put(ctx, channel.read_request, [{"address": 16, "length": 8}])
            assert await get(ctx, channel.read_data, 8, rng, stall) == list(range(16, 24))
            await ctx.tick().repeat(2)
            assert len(faults) == reads
        await put(ctx, channel.write, [{"address": 20, "data": 1}])
        await put(ctx, channel.read_request, [{"address": 16, "length": 8}])
        await get(ctx, channel.read_data, 8)
        await ctx.tick().repeat(2)
        assert len(faults) == 3, "what is written again is right again"

    run(dut, bench, background=[count_cycles(dut.fault, faults)])
