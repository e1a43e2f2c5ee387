# SPDX-License-Identifier: BSD-2-Clause
"""What any block behind a ``Channel`` must do, and measurements of its latency and rate."""

import numpy as np

from hypercast.rtl.layouts import BURST
from tests.bench import get, put, run

__all__ = ["check_contents", "time_bursts", "time_mixture"]


def check_contents(dut, config, seed, idle=0.0, stall=0.0, rounds=6, background=()):
    """Write one half of the memory while reading the other, by turns, and compare every word.

    The next round's reads follow the writes as soon as ``idle`` is high. ``background`` is what
    serves the block, as in ``tests.bench.run``.
    """
    rng = np.random.default_rng(seed)
    channel = dut.channel
    half = config.channel_words // 2
    contents = [0] * config.channel_words
    plan = []  # per round: writes, bursts, words expected
    for turn in range(rounds):
        bursts = []
        for _ in range(6):
            length = int(rng.integers(1, BURST + 1))
            start = int(rng.integers(half - length + 1)) + half * (1 - turn % 2)
            bursts.append({"address": start, "length": length})
        expected = [word for burst in bursts for word in
                    contents[burst["address"]:burst["address"] + burst["length"]]]
        writes = [{"address": int(rng.integers(half)) + half * (turn % 2),
                   "data": int.from_bytes(rng.bytes(config.word_width // 8), "little")}
                  for _ in range(3 * half)]
        for write in writes:
            contents[write["address"]] = write["data"]
        plan.append((writes, bursts, expected))

    finished = [0, 0]  # rounds that writer and receiver have finished

    async def barrier(ctx, turn):
        while min(finished) <= turn:
            await ctx.tick()

    async def writer(ctx):
        for turn, (writes, _, _) in enumerate(plan):
            await put(ctx, channel.write, writes, rng, idle)
            while not ctx.get(channel.idle):
                await ctx.tick()
            finished[0] += 1
            await barrier(ctx, turn)

    async def requester(ctx):
        for turn, (_, bursts, _) in enumerate(plan):
            await put(ctx, channel.read_request, bursts, rng, idle)
            await barrier(ctx, turn)

    async def receiver(ctx):
        for turn, (_, _, expected) in enumerate(plan):
            assert await get(ctx, channel.read_data, len(expected), rng, stall) == expected
            finished[1] += 1
            await barrier(ctx, turn)

    run(dut, writer, requester, receiver, background=background)


def time_bursts(dut, lengths, background=()):
    """Cycles from the first request's acceptance to the first word, and to the last."""
    channel = dut.channel
    times = {}

    async def watch(ctx):
        ctx.set(channel.read_data.ready, 1)
        cycle = 0
        words = 0
        while words < sum(lengths):
            _, _, asked, came = await ctx.tick().sample(
                channel.read_request.valid & channel.read_request.ready, channel.read_data.valid)
            if asked:
                times.setdefault("asked", cycle)
            if came:
                words += 1
                times.setdefault("first", cycle)
                times["last"] = cycle
            cycle += 1

    bursts = [{"address": 0, "length": length} for length in lengths]
    run(dut, lambda ctx: put(ctx, channel.read_request, bursts), watch, background=background)
    return times["first"] - times["asked"], times["last"] - times["asked"]


def time_mixture(dut, number):
    """Cycles to write ``number`` words while reading as many."""
    channel = dut.channel
    cycles = 0

    async def count(ctx):
        nonlocal cycles
        while True:
            await ctx.tick()
            cycles += 1

    run(dut, lambda ctx: put(ctx, channel.write, [{"address": 1, "data": 1}] * number),
        lambda ctx: put(ctx, channel.read_request, [{"address": 0, "length": 8}] * (number // 8)),
        lambda ctx: get(ctx, channel.read_data, number), background=[count])
    return cycles
