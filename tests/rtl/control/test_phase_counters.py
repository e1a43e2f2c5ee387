# SPDX-License-Identifier: BSD-2-Clause
"""PhaseCounters against a count in NumPy."""

import numpy as np

from hypercast.rtl.control.phase_counters import PhaseCounters
from hypercast.rtl.registers import PHASES
from tests.bench import run


def test_random_phases():
    rng = np.random.default_rng(0)
    dut = PhaseCounters()
    expected = np.zeros(PHASES, dtype=int)

    async def bench(ctx):
        for _ in range(500):
            phase, enable = int(rng.integers(PHASES)), int(rng.integers(2))
            clear = int(rng.random() < 0.005)
            ctx.set(dut.phase, phase)
            ctx.set(dut.enable, enable)
            ctx.set(dut.clear, clear)
            await ctx.tick()
            expected[phase] += enable
            if clear:
                expected[:] = 0
        ctx.set(dut.enable, 0)
        ctx.set(dut.clear, 0)
        assert expected.any()
        for index in range(PHASES):
            ctx.set(dut.index, index)
            await ctx.tick()
            assert ctx.get(dut.cycles) == expected[index]
        ctx.set(dut.clear, 1)
        await ctx.tick().repeat(2)
        assert ctx.get(dut.cycles) == 0

    run(dut, bench)
