# SPDX-License-Identifier: BSD-2-Clause
"""ColumnSums against NumPy."""

import numpy as np
import pytest

from hypercast.rtl.array.column_sums import ColumnSums
from hypercast.rtl.config import Config
from tests.bench import run


@pytest.mark.parametrize("element_width", [8, 16])
def test_sums_of_the_first_tile(element_width):
    """Words with gaps, the next tile's first word with ``close``, and back-pressure."""
    config = Config(lanes=4, element_width=element_width)
    rng = np.random.default_rng(element_width)
    dut = ColumnSums(config)
    limit = 1 << element_width - 1

    async def word(ctx, values, *, close=0):
        ctx.set(dut.word, values.tolist())
        ctx.set(dut.valid, 1)
        ctx.set(dut.close, close)
        await ctx.tick()
        ctx.set(dut.valid, 0)
        ctx.set(dut.close, 0)
        for _ in range(int(rng.integers(3))):
            ctx.set(dut.word, rng.integers(-limit, limit, 4).tolist())
            await ctx.tick()

    async def bench(ctx):
        for rows in (0, 1, 7, 40):
            ctx.set(dut.start, 1)
            await ctx.tick()
            ctx.set(dut.start, 0)
            words = np.where(rng.random((rows, 4)) < 0.5, -limit,
                             rng.integers(-limit, limit, (rows, 4)))
            for values in words:
                assert not ctx.get(dut.o.valid)
                await word(ctx, values)
            for tile in range(3):
                await word(ctx, rng.integers(-limit, limit, 4), close=tile < 2)
                assert ctx.get(dut.o.valid)
                assert list(ctx.get(dut.o.payload)) == words.sum(axis=0).tolist()
            ctx.set(dut.o.ready, 1)
            await ctx.tick()
            ctx.set(dut.o.ready, 0)
            assert not ctx.get(dut.o.valid)
            await word(ctx, words.sum(axis=0) % 3, close=1)
            assert not ctx.get(dut.o.valid)

    run(dut, bench)
