# SPDX-License-Identifier: BSD-2-Clause
"""RequestQueue against a list."""

import random

import pytest

from hypercast.rtl.network.request_queue import RequestQueue
from tests.bench import run


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_random_use(depth):
    dut = RequestQueue(depth, 3)
    rng = random.Random(depth)

    async def bench(ctx):
        queue, left = [], 0
        while left < 300:
            assert ctx.get(dut.room) == (len(queue) < depth)
            assert ctx.get(dut.present) == bool(queue)
            assert ctx.get(dut.followed) == (len(queue) > 1)
            assert ctx.get(dut.requests) == (queue[0] if queue else 0)
            write = len(queue) < depth and rng.random() < 0.6
            wanted, served = rng.getrandbits(3), rng.getrandbits(3) & (queue[0] if queue else 0)
            for port, value in ((dut.write, write), (dut.wanted, wanted), (dut.served, served)):
                ctx.set(port, value)
            leaves = bool(queue) and queue[0] == served
            assert ctx.get(dut.leaves) == leaves
            await ctx.tick()
            if queue:
                queue[0] &= ~served
            if leaves:
                queue.pop(0)
                left += 1
            if write:
                queue.append(wanted)

    run(dut, bench)
