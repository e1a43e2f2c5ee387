# SPDX-License-Identifier: BSD-2-Clause
"""Tests of the FIFO with credits, behind a pipeline of given latency."""

import numpy as np
import pytest

from hypercast.rtl.vector.credit_fifo import CreditFIFO
from tests.bench import get, run


async def _pipeline(ctx, dut, payloads, latency, rng, idle):
    """Send ``payloads`` through a pipeline of ``latency`` cycles whenever there is credit."""
    under_way = [None] * latency
    waiting = list(payloads)
    while waiting or any(payload is not None for payload in under_way):
        enter = bool(waiting) and bool(ctx.get(dut.credit)) and rng.random() >= idle
        ctx.set(dut.take, enter)
        under_way.append(waiting.pop(0) if enter else None)
        leaving = under_way.pop(0)
        ctx.set(dut.push, leaving is not None)
        ctx.set(dut.i, leaving or 0)
        await ctx.tick()
    ctx.set(dut.push, 0)


@pytest.mark.parametrize("depth, latency, idle, stall", [
    (16, 12, 0.0, 0.0), (16, 12, 0.3, 0.3), (4, 9, 0.0, 0.5), (3, 1, 0.0, 0.8)])
def test_nothing_is_lost(depth, latency, idle, stall):
    rng = np.random.default_rng(depth)
    payloads = list(range(1, 200))
    dut = CreditFIFO(8, depth)

    async def take(ctx):
        assert await get(ctx, dut.o, len(payloads), rng, stall) == payloads

    run(dut, lambda ctx: _pipeline(ctx, dut, payloads, latency, rng, idle), take, cycles=5000)


def test_sustains_one_per_cycle():
    rng = np.random.default_rng(0)
    dut = CreditFIFO(8, 16)

    async def take(ctx):
        await get(ctx, dut.o, 200)

    run(dut, lambda ctx: _pipeline(ctx, dut, range(200), 13, rng, 0), take, cycles=220)


def test_too_shallow_is_refused():
    with pytest.raises(ValueError, match="at least 3, not 2"):
        CreditFIFO(8, 2)
