# SPDX-License-Identifier: BSD-2-Clause
"""BurstReader: words of random commands in order, room for what is requested, full rate."""

import numpy as np
import pytest

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import BURST
from hypercast.rtl.lib.burst_reader import BurstReader
from tests.bench import MemoryModel, get, put, run

CONFIGS = [
    Config(lanes=2, element_width=8, read_buffer=4, channel_words=512),
    Config(lanes=4, element_width=16, read_buffer=8, channel_words=1024),
    Config(lanes=16, element_width=16, read_buffer=32, channel_words=1024),
]


def _read(config, commands, rng, latency=1, memory_stall=0.0, idle=0.0, stall=0.0, cycles=50_000):
    """Run ``commands`` and compare what comes out with the memory."""
    dut = BurstReader(config)
    memory = MemoryModel(config, rng, latency, memory_stall)
    for channel in memory.channels:
        channel[:] = [int(rng.integers(2**32)) for _ in channel]
    expected = [word for command in commands
                for word in memory.channels[command["channel"]][
                    command["address"]:command["address"] + command["count"]]]
    received = []

    async def receiver(ctx):
        received.extend(await get(ctx, dut.o, len(expected), rng, stall))
        assert not ctx.get(dut.busy)

    async def busy_checker(ctx):
        """While words are still to come, the reader is busy; ``data.ready`` is always high."""
        ordered = 0
        taken = 0
        while True:
            _, _, busy, ready, start, count, transfer = await ctx.tick().sample(
                dut.busy, dut.port.data.ready, dut.command.valid & dut.command.ready,
                dut.command.payload.count, dut.o.valid & dut.o.ready)
            assert ready
            assert busy == (ordered > taken)
            ordered += count if start else 0
            taken += transfer

    run(dut, lambda ctx: put(ctx, dut.command, commands, rng, idle), receiver,
        background=[busy_checker, lambda ctx: memory.serve_read(ctx, dut.port)], cycles=cycles)
    assert received == expected


def _commands(config, rng, number, longest):
    counts = rng.choice([0, 1, 2, BURST, BURST + 1, int(rng.integers(longest))], size=number)
    return [{"channel": int(rng.integers(2)), "count": int(count),
             "address": int(rng.integers(config.channel_words - count + 1)) if count
             else int(rng.integers(config.channel_words))} for count in counts]


@pytest.mark.grid
@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.word_width}bit")
@pytest.mark.parametrize(("latency", "memory_stall", "idle", "stall"), [
    (1, 0.0, 0.0, 0.0), (1, 0.0, 0.3, 0.6), (7, 0.3, 0.0, 0.3), (40, 0.2, 0.8, 0.0)])
def test_random_commands(config, latency, memory_stall, idle, stall):
    rng = np.random.default_rng(latency)
    _read(config, _commands(config, rng, 40, 100), rng, latency, memory_stall, idle, stall)


@pytest.mark.grid
@pytest.mark.parametrize(("read_buffer", "latency"), [(8, 5), (32, 1), (32, 16), (32, 29)])
@pytest.mark.parametrize("count", [1, 2, 5, BURST, BURST + 1, 200])
def test_full_rate_within_and_between_commands(read_buffer, latency, count):
    config = Config(read_buffer=read_buffer, channel_words=1024)
    rng = np.random.default_rng(count)
    commands = [{"channel": 0, "count": count, "address": int(rng.integers(800))}
                for _ in range(400 // count)]
    words = count * len(commands)
    _read(config, commands, rng, latency, cycles=words + latency + 8)


def test_nothing_to_read():
    config = CONFIGS[0]
    commands = [{"channel": 1, "address": 3, "count": 0}] * 5
    _read(config, commands, np.random.default_rng(0), cycles=20)
