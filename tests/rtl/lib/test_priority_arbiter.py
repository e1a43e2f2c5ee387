# SPDX-License-Identifier: BSD-2-Clause
"""A priority arbiter grants the highest priority, of equals the favoured, then takes turns."""

import random

import pytest

from hypercast.rtl.lib.priority_arbiter import PriorityArbiter
from tests.bench import run


def test_count_is_checked():
    with pytest.raises(ValueError, match="at least 1, not 0"):
        PriorityArbiter(0, 2)


@pytest.mark.parametrize(("count", "levels"), [(1, 2), (3, 1), (5, 6), (8, 3)])
def test_grants_follow_the_model(count, levels):
    dut = PriorityArbiter(count, levels)
    rng = random.Random(count)

    async def bench(ctx):
        waiting = list(range(count))  # least recently granted first
        order = [(0, 0)] * count  # priority and favour, of the cycle before
        for _ in range(400):
            requests, enable = rng.getrandbits(count), rng.random() < 0.8
            ctx.set(dut.requests, requests)
            ctx.set(dut.enable, enable)
            asking = [index for index in waiting if requests >> index & 1]
            granted = max(asking, key=order.__getitem__, default=None) if enable else None
            favoured = rng.getrandbits(count)
            ctx.set(dut.favoured, favoured)
            order = [(rng.randrange(levels + 1), favoured >> index & 1 if index != granted else 0)
                     for index in range(count)]
            for index, (priority, _) in enumerate(order):
                ctx.set(dut.priorities[index], (1 << priority) - 1)
            assert ctx.get(dut.grants) == (0 if granted is None else 1 << granted)
            if granted is not None:
                waiting.remove(granted)
                waiting.append(granted)
            await ctx.tick()

    run(dut, bench)


def test_equals_take_turns():
    dut = PriorityArbiter(4, 2)

    async def bench(ctx):
        ctx.set(dut.enable, 1)
        for index, priority in enumerate((0b01, 0b01, 0b00, 0b01)):
            ctx.set(dut.priorities[index], priority)
        await ctx.tick()
        ctx.set(dut.requests, 0b1111)
        granted = []
        for _ in range(9):
            granted.append(ctx.get(dut.grants))
            await ctx.tick()
        assert granted == [0b0001, 0b0010, 0b1000] * 3

    run(dut, bench)
