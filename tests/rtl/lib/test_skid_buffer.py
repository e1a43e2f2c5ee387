# SPDX-License-Identifier: BSD-2-Clause
"""SkidBuffer: every payload, in order, one per cycle; ready does not follow the output's."""

import numpy as np
import pytest

from hypercast.rtl.lib.skid_buffer import SkidBuffer
from tests.bench import get, put, run


@pytest.mark.parametrize(("idle", "stall"), [(0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (0.4, 0.6)])
def test_order(idle, stall):
    rng = np.random.default_rng(1)
    dut = SkidBuffer(12)
    payloads = [int(value) for value in rng.integers(1 << 12, size=300)]

    async def receive(ctx):
        assert await get(ctx, dut.o, len(payloads), rng, stall) == payloads

    run(dut, lambda ctx: put(ctx, dut.i, payloads, rng, idle), receive)


def test_one_transfer_per_cycle():
    dut = SkidBuffer(8)
    run(dut, lambda ctx: put(ctx, dut.i, range(100)), lambda ctx: get(ctx, dut.o, 100), cycles=103)


def test_ready_is_a_register():
    """A stalled output is noticed a cycle later, with room for what came meanwhile."""
    dut = SkidBuffer(8)

    async def bench(ctx):
        ctx.set(dut.i.valid, 1)
        for ready in (1, 1, 0, 0):
            assert ctx.get(dut.i.ready) == ready
            await ctx.tick()
        ctx.set(dut.o.ready, 1)
        assert ctx.get(dut.i.ready) == 0
        await ctx.tick()
        assert ctx.get(dut.i.ready) == 1

    run(dut, bench)
