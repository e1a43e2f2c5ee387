# SPDX-License-Identifier: BSD-2-Clause
"""ResetSequence: memories finish first, then the reset lasts as long as it has to."""

import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.reset_sequence import SETTLING, ResetSequence
from tests.bench import run

CONFIG = PRESETS["tiny"]


@pytest.mark.parametrize("owed", [0, 1, SETTLING, 500])
def test_the_reset_waits_for_memories(owed):
    """They still owe answers for some cycles, which is seen a few cycles after it is so."""
    dut = ResetSequence(CONFIG)
    seen = []

    async def bench(ctx):
        for _ in range(2):  # twice the same
            assert not ctx.get(dut.active)
            ctx.set(dut.trigger, 1)
            await ctx.tick()
            ctx.set(dut.trigger, 0)
            seen.clear()
            while ctx.get(dut.active):
                ctx.set(dut.unfinished, 4 <= len(seen) < owed)
                seen.append((ctx.get(dut.quiesce), ctx.get(dut.reset)))
                await ctx.tick()
            resets = [index for index, (_, reset) in enumerate(seen) if reset]
            assert len(resets) == CONFIG.reset_cycles == resets[-1] - resets[0] + 1
            assert resets[0] == max(owed, SETTLING - 1) + 1
            assert all(quiesce == (index <= resets[-1])
                       for index, (quiesce, _) in enumerate(seen))
            assert len(seen) - 1 - resets[-1] == SETTLING

    run(dut, bench)


def test_a_trigger_under_way_does_nothing():
    dut = ResetSequence(CONFIG)
    lengths = []

    async def bench(ctx):
        for again in (False, True):
            ctx.set(dut.trigger, 1)
            await ctx.tick()
            cycles = 0
            while ctx.get(dut.active):
                ctx.set(dut.trigger, again and cycles < CONFIG.reset_cycles)
                await ctx.tick()
                cycles += 1
            lengths.append(cycles)

    run(dut, bench)
    assert lengths[0] == lengths[1]
