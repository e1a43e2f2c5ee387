# SPDX-License-Identifier: BSD-2-Clause
"""StreamMerge: nothing lost, order per input kept, fair, a transfer every cycle."""

import numpy as np
import pytest
from amaranth.lib import data

from hypercast.rtl.lib.stream_merge import StreamMerge
from tests.bench import get, put, run


def _merge(count, each, idle, stall, seed=1, cycles=10_000):
    """Merge ``each`` numbers from every input; returns [(input, number)] as they came out."""
    shape = data.StructLayout({"source": 4, "number": 12})
    dut = StreamMerge(shape, count)
    rng = np.random.default_rng(seed)
    merged = []

    def sender(source):
        payloads = [{"source": source, "number": number} for number in range(each)]
        return lambda ctx: put(ctx, dut.i[source], payloads, rng, idle)

    async def receiver(ctx):
        merged.extend(await get(ctx, dut.o, count * each, rng, stall))

    run(dut, *map(sender, range(count)), receiver, cycles=cycles)
    return [(payload.source, payload.number) for payload in merged]


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
@pytest.mark.parametrize(("idle", "stall"), [(0.0, 0.5), (0.7, 0.0), (0.4, 0.4)])
def test_merge_keeps_order_of_each_input(count, idle, stall):
    merged = _merge(count, 40, idle, stall, seed=count)
    for source in range(count):
        assert [number for origin, number in merged if origin == source] == list(range(40))


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_busy_inputs_take_turns_without_a_gap(count):
    merged = _merge(count, 30, 0.0, 0.0, cycles=count * 30 + 3)
    assert [source for source, _ in merged] == list(range(count)) * 30


def test_waiting_input_is_served_within_one_round():
    count = 5
    dut = StreamMerge(8, count)
    rng = np.random.default_rng(3)

    async def watch(ctx):
        overtaken = [0] * count
        while True:
            _, _, *states = await ctx.tick().sample(
                *(signal for source in dut.i for signal in (source.valid, source.ready)))
            taken = [bool(valid and ready)
                     for valid, ready in zip(states[::2], states[1::2], strict=True)]
            for index, valid in enumerate(states[::2]):
                waits = valid and not taken[index]
                overtaken[index] = overtaken[index] + sum(taken) if waits else 0
                assert overtaken[index] < count

    def sender(source, idle):
        return lambda ctx: put(ctx, source, range(100), rng, idle)

    run(dut, *map(sender, dut.i, (0.0, 0.2, 0.5, 0.8, 0.9)),
        lambda ctx: get(ctx, dut.o, count * 100, rng, 0.2), background=[watch], cycles=10_000)


def test_no_inputs_are_refused():
    with pytest.raises(ValueError, match="not 0"):
        StreamMerge(8, 0)
