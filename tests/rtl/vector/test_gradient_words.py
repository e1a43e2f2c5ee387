# SPDX-License-Identifier: BSD-2-Clause
"""GradientWords: panels are full of their groups, and zero where a row has none."""

import numpy as np

from hypercast.rtl.config import PRESETS
from hypercast.rtl.limits import group_size
from hypercast.rtl.vector.gradient_words import GradientWords
from tests.bench import get, put, run
from tests.rtl.vector.group_cases import GROUP_SHAPES, IDLES
from tests.rtl.vector.vector_bench import unpack

_ROWS = 12


@GROUP_SHAPES
@IDLES
def test_rows(lanes, element_width, groups, idle, stall):
    config = PRESETS["test"].replace(lanes=lanes, element_width=element_width)
    rng = np.random.default_rng(groups)
    size = group_size(config)
    count = groups * size
    panels = -(-count // lanes)
    half = 1 << element_width - 1
    gradients = np.zeros((_ROWS, panels * lanes), dtype=int)
    gradients[:, :count] = rng.integers(-half, half, size=(_ROWS, count))
    dut = GradientWords(config)

    async def check(ctx):
        ctx.set(dut.groups, groups)
        got = await get(ctx, dut.o, _ROWS * panels, rng, stall)
        assert [unpack(word, element_width, lanes) for word in got] == gradients.reshape(
            -1, lanes).tolist()

    run(dut, check, lambda ctx: put(
        ctx, dut.i, gradients[:, :count].reshape(-1, size).tolist(), rng, idle), cycles=2000)


@GROUP_SHAPES
def test_takes_a_group_in_every_cycle(lanes, element_width, groups):
    """Where a group is a panel, it passes in the cycle in which it comes."""
    dut = GradientWords(PRESETS["test"].replace(lanes=lanes, element_width=element_width))
    at_once = lanes <= 4

    async def check(ctx):
        ctx.set(dut.groups, groups)
        ctx.set(dut.i.valid, 1)
        ctx.set(dut.o.ready, 1)
        assert ctx.get(dut.o.valid) == at_once
        for _ in range(3 * groups):
            assert ctx.get(dut.i.ready)
            await ctx.tick()
        assert ctx.get(dut.o.valid)
        ctx.set(dut.o.ready, 0)
        assert not ctx.get(dut.i.ready)

    run(dut, check)
