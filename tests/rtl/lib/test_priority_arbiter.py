"""A priority arbiter grants the highest priority that is requested, in turn among equals."""

import random

import pytest

from hypercast.rtl.lib.priority_arbiter import PriorityArbiter
from tests.bench import run


@pytest.mark.parametrize(("count", "levels"), [(1, 2), (3, 1), (5, 6), (8, 3)])
def test_highest_priority_first(count, levels):
    dut = PriorityArbiter(count, levels)
    rng = random.Random(count)

    async def bench(ctx):
        last = [-1] * count  # cycle of each requester's last grant
        for cycle in range(400):
            requests, enable = rng.getrandbits(count), rng.random() < 0.8
            priorities = [rng.randrange(levels + 1) for _ in range(count)]
            ctx.set(dut.requests, requests)
            ctx.set(dut.enable, enable)
            for index, priority in enumerate(priorities):
                ctx.set(dut.priorities[index], (1 << priority) - 1)
            grants = ctx.get(dut.grants)
            asking = [index for index in range(count) if requests >> index & 1]
            if enable and asking:
                highest = max(priorities[index] for index in asking)
                assert grants in [1 << index for index in asking if priorities[index] == highest]
                last[grants.bit_length() - 1] = cycle
            else:
                assert grants == 0
            await ctx.tick()
        assert min(last) >= 0, "a requester was never granted"

    run(dut, bench)


def test_equals_take_turns():
    dut = PriorityArbiter(4, 2)

    async def bench(ctx):
        ctx.set(dut.enable, 1)
        ctx.set(dut.requests, 0b1111)
        for index, priority in enumerate((0b01, 0b01, 0b00, 0b01)):
            ctx.set(dut.priorities[index], priority)
        granted = []
        for _ in range(9):
            granted.append(ctx.get(dut.grants))
            await ctx.tick()
        assert granted == [0b0001, 0b0010, 0b1000] * 3

    run(dut, bench)
