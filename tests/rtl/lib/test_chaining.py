# SPDX-License-Identifier: BSD-2-Clause
"""Chaining: which rows are there, whoever reads while whatever is stored."""

import random

import pytest

from hypercast.rtl.lib.chaining import Chaining
from tests.bench import run, shared


class Bench:
    """A reader that is started, and rows that are stored."""

    def __init__(self):
        self.chaining = shared(Chaining)

    async def start(self, ctx, chained):
        ctx.set(self.chaining.chained, chained)
        ctx.set(self.chaining.start, 1)
        await ctx.tick()
        ctx.set(self.chaining.start, 0)
        ctx.set(self.chaining.chained, not chained)

    def there(self, ctx, row):
        ctx.set(self.chaining.row, row)
        return bool(ctx.get(self.chaining.there))

    def storing(self, ctx, rows):
        """So many have been stored, or None if nothing is."""
        ctx.set(self.chaining.storing, rows is not None)
        ctx.set(self.chaining.rows, rows or 0)

    def run(self, program):
        run(self.chaining, program)


@pytest.mark.parametrize("seed", range(3))
def test_a_follower_gets_what_has_been_stored(seed):
    bench, rng = Bench(), random.Random(seed)

    async def program(ctx):
        for _ in range(5):
            bench.storing(ctx, 0)
            await bench.start(ctx, 1)
            stored = 0
            while stored < 1 << 14:
                for row in (0, stored - 1, stored, stored + 1, (1 << 15) - 1, (1 << 20) - 1):
                    assert row < 0 or bench.there(ctx, row) == (row < stored)
                stored += rng.randrange(1 << rng.randrange(14))
                bench.storing(ctx, stored)
                await ctx.tick()
            bench.storing(ctx, None)
            assert bench.there(ctx, stored + 5)
            await ctx.tick()
            bench.storing(ctx, 3)  # of another instruction, which is not followed
            assert bench.there(ctx, 10)
            await ctx.tick()
            assert bench.there(ctx, 10)

    bench.run(program)


@pytest.mark.parametrize("chained", [0, 1])
def test_who_does_not_follow_has_everything(chained):
    """It is not chained, or nothing was being stored when it began."""
    bench = Bench()

    async def program(ctx):
        bench.storing(ctx, None if chained else 3)
        await bench.start(ctx, chained)
        for stored in (0, 1, 5, None, 2):
            bench.storing(ctx, stored)
            assert bench.there(ctx, 5) and bench.there(ctx, 100)
            await ctx.tick()

    bench.run(program)


def test_the_next_reader_is_another():
    """Each start counts anew."""
    bench = Bench()

    async def program(ctx):
        bench.storing(ctx, 4)
        for chained in (1, 0, 1, 1, 0):
            await bench.start(ctx, chained)
            assert bench.there(ctx, 3) and bench.there(ctx, 4) == (not chained)
            await ctx.tick()
            assert bench.there(ctx, 4) == (not chained)

    bench.run(program)
