# SPDX-License-Identifier: BSD-2-Clause
"""Tests of the stream of dropout decisions."""

import numpy as np
import pytest

from hypercast.reference import arithmetic
from hypercast.rtl.config import PRESETS
from hypercast.rtl.lib.dropout import Dropout
from hypercast.rtl.placement import rank_of
from hypercast.rtl.vector.keep_stream import KeepStream
from tests.bench import get, put, run

_KEY, _THRESHOLD, _PANEL = 0x12345678, 20000, 5


def _expected(config, core, rows):
    return _masks(config, rank_of(core, rows, config.cores))


def _masks(config, ranks):
    features = _PANEL * config.lanes + np.arange(config.lanes)
    keep = arithmetic.keep_mask(_KEY, _THRESHOLD, ranks[:, None], features[None, :])
    return (keep << np.arange(config.lanes)).sum(axis=1).tolist()


def _setup(ctx, dut, core):
    for name, value in (("key", _KEY), ("threshold", _THRESHOLD), ("panel", _PANEL),
                        ("core", core)):
        ctx.set(getattr(dut, name), value)


async def _start(ctx, dut, row_start, count):
    ctx.set(dut.row_start, row_start)
    ctx.set(dut.count, count)
    ctx.set(dut.start, 1)
    await ctx.tick()
    ctx.set(dut.start, 0)
    ctx.set(dut.count, 99)


@pytest.mark.parametrize("dimensions", [0, 2])
@pytest.mark.parametrize("stall", [0.0, 0.4])
def test_runs_of_rows(dimensions, stall):
    config = PRESETS["test"].replace(dimensions=dimensions)
    rng = np.random.default_rng(dimensions)
    dut = KeepStream(config)

    async def bench(ctx):
        for core, row_start, count in ((0, 0, 20), (config.cores - 1, 7, 30), (0, 1 << 19, 5)):
            _setup(ctx, dut, core)
            await _start(ctx, dut, row_start, count)
            expected = _expected(config, core, row_start + np.arange(count))
            assert await get(ctx, dut.o, count, rng, stall) == expected
            for _ in range(2 * Dropout.LATENCY):
                assert not ctx.get(dut.o.valid)
                await ctx.tick()

    run(dut, bench, cycles=1000)


@pytest.mark.parametrize("late,stall", [(0.0, 0.0), (0.4, 0.0), (0.2, 0.4)])
def test_ranks_that_are_given(late, stall):
    """A run takes as many as it has rows; runs whose rows say their ranks take none."""
    config = PRESETS["test"]
    rng = np.random.default_rng(0)
    dut = KeepStream(config)
    ranks = rng.integers(1 << 32, size=50)

    async def bench(ctx):
        before = 0
        for ranked, count in ((1, 20), (0, 13), (1, 1), (1, 29)):
            _setup(ctx, dut, 1)
            ctx.set(dut.ranked, ranked)
            await _start(ctx, dut, 3, count)
            own = ranks[before:before + count]
            expected = _masks(config, own) if ranked else _expected(config, 1, 3 + np.arange(count))
            assert await get(ctx, dut.o, count, rng, stall) == expected
            before += count * ranked
            for _ in range(2 * Dropout.LATENCY):
                assert not ctx.get(dut.o.valid)
                await ctx.tick()
        assert before == len(ranks)

    async def give(ctx):
        await put(ctx, dut.ranks, ranks.tolist(), np.random.default_rng(1), late)

    run(dut, bench, background=[give], cycles=1000)


def test_first_row():
    dut = KeepStream(PRESETS["test"])

    async def bench(ctx):
        await _start(ctx, dut, 0, 3)
        for _ in range(Dropout.LATENCY):
            assert not ctx.get(dut.o.valid)
            await ctx.tick()
        assert ctx.get(dut.o.valid)

    run(dut, bench)
