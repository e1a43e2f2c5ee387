# SPDX-License-Identifier: BSD-2-Clause
"""EngineStatus: the reduction over all cores, and the shadow of an issue."""

import numpy as np
import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.engine_status import EngineStatus
from hypercast.rtl.isa import Engine
from tests.bench import run


@pytest.mark.parametrize(("dimensions", "latency"), [(0, 1), (1, 1), (2, 1), (3, 2), (4, 2),
                                                     (5, 3), (6, 3)])
def test_reduction(dimensions, latency):
    config = PRESETS["tiny"].replace(dimensions=dimensions)
    rng = np.random.default_rng(dimensions)
    dut = EngineStatus(config)
    expected = []

    async def bench(ctx):
        for cycle in range(60):
            sparse = rng.random(config.cores) < 0.1
            busy = rng.integers(256, size=config.cores) * sparse
            peak = rng.integers(64, size=config.cores)
            error = rng.integers(8, size=config.cores) * sparse
            progress = rng.random(config.cores) < 0.05
            for core in range(config.cores):
                ctx.set(dut.core_busy[core], int(busy[core]))
                ctx.set(dut.core_peak[core], int(peak[core]))
                ctx.set(dut.core_error[core], int(error[core]))
                ctx.set(dut.core_progress[core], int(progress[core]))
            expected.append((np.bitwise_or.reduce(busy), peak.max(),
                             np.bitwise_or.reduce(error), progress.any()))
            await ctx.tick()
            if cycle >= latency - 1:
                got = (ctx.get(dut.busy), ctx.get(dut.peak), ctx.get(dut.error),
                       ctx.get(dut.progress))
                assert got == expected[cycle - latency + 1]

    run(dut, bench)


@pytest.mark.parametrize("dimensions, shadow", [(1, 7), (4, 8), (6, 9)])
@pytest.mark.parametrize("engine", Engine)
def test_shadow(engine, dimensions, shadow):
    dut = EngineStatus(PRESETS["cora"].replace(dimensions=dimensions))
    assert dut.shadow == shadow

    async def bench(ctx):
        ctx.set(dut.start, 1 << engine)
        await ctx.tick()
        ctx.set(dut.start, 0)
        for _ in range(dut.shadow):
            assert ctx.get(dut.busy) == 1 << engine
            await ctx.tick()
        assert ctx.get(dut.busy) == 0

    run(dut, bench)
