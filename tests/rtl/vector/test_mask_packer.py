# SPDX-License-Identifier: BSD-2-Clause
"""Tests of the mask packer."""

import random

import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.vector.mask_packer import MaskPacker
from tests.bench import get, run


@pytest.mark.parametrize("lanes, element_width", [(2, 16), (2, 8), (4, 16), (16, 8)])
def test_lists_of_any_length(lanes, element_width):
    config = PRESETS["test"].replace(lanes=lanes, element_width=element_width)
    rng = random.Random(lanes)
    dut = MaskPacker(config)
    lists = [[rng.getrandbits(lanes) for _ in range(length)]
             for length in (1, config.mask_rows, config.mask_rows + 1, 3 * config.mask_rows - 1)]
    words = [sum(row << lanes * position for position, row in enumerate(rows[start:start + per]))
             for per in [config.mask_rows] for rows in lists for start in range(0, len(rows), per)]

    async def push(ctx):
        for rows in lists:
            for position, row in enumerate(rows):
                while ctx.get(dut.o.valid) or rng.random() < 0.2:
                    await ctx.tick()
                ctx.set(dut.i, row)
                ctx.set(dut.last, position == len(rows) - 1)
                ctx.set(dut.push, 1)
                await ctx.tick()
                ctx.set(dut.push, 0)

    async def take(ctx):
        assert await get(ctx, dut.o, len(words), rng, 0.5) == words

    run(dut, push, take, cycles=2000)
