# SPDX-License-Identifier: BSD-2-Clause
"""SystolicArray against matrix products in NumPy."""

import itertools

import numpy as np
import pytest

from hypercast.rtl.array.systolic_array import SystolicArray
from hypercast.rtl.config import PRESETS
from tests.bench import run


def draw(rng, *shape, width):
    """Elements of all sizes, extremes included."""
    limit = 1 << width - 1
    values = rng.integers(-limit, limit, shape)
    return np.where(rng.random(shape) < 0.2, rng.choice([-limit, limit - 1], shape), values)


class Driver:
    """Feeds words and tiles of weights, and collects what comes out."""

    def __init__(self, array, lanes, rng, gap):
        self.array, self.lanes, self.rng, self.gap = array, lanes, rng, gap
        self.results = []
        self.since_first = 0

    def word(self, value):
        return [int(element) for element in value]

    async def step(self, ctx, **inputs):
        """One cycle; all strobes not named are low, operands not named are garbage."""
        array = self.array
        for name in ("valid", "first", "closes", "load"):
            ctx.set(getattr(array, name), inputs.pop(name, 0))
        for name in ("left", "right", "weights"):
            garbage = self.rng.integers(-100, 100, self.lanes)
            ctx.set(getattr(array, name), self.word(inputs.pop(name, garbage)))
        assert not inputs
        if ctx.get(array.result_valid):
            self.results.append(list(ctx.get(array.result)))
        self.since_first = 0 if ctx.get(array.first) else self.since_first + 1
        await ctx.tick()

    async def stationary_weights(self, ctx, tiles, from_side):
        """Streams each (words, weights); a tile is loaded as early as the contract allows."""
        array = self.array
        ctx.set(array.gradient, 0)
        ctx.set(array.from_side, from_side)
        self.since_first = 0
        loads = [weights[::-1] for _, weights in tiles]
        words = [list(words) for words, _ in tiles]
        loaded = begun = row = 0
        while begun < len(tiles) or words[-1]:
            inputs = {}
            if (loaded < len(tiles) and loaded <= begun
                    and (loaded == 0 or begun == loaded)):
                inputs.update(load=1, weights=loads[loaded][row])
                row = (row + 1) % self.lanes
                loaded += row == 0
            if self.rng.random() >= self.gap:
                if begun and words[begun - 1]:
                    inputs.update(valid=1, left=words[begun - 1].pop(0))
                elif loaded > begun:
                    inputs.update(valid=1, first=1, left=words[begun].pop(0))
                    begun += 1
            await self.step(ctx, **inputs)
        for _ in range(array.latency + 1):
            await self.step(ctx)
        results, self.results = self.results, []
        return np.array(results)

    async def stationary_sums(self, ctx, tiles):
        """Streams each (left, right); tiles follow each other as closely as the contract allows."""
        array = self.array
        ctx.set(array.gradient, 1)
        sums = {}    # cycle to row
        closed = []  # cycles
        feed = [(row == 0, number > 0, left[row], right[row])
                for number, (left, right) in enumerate(tiles) for row in range(len(left))]
        feed.append((True, True, None, None))
        self.since_first = self.lanes
        for now in itertools.count():
            inputs = {}
            if ctx.get(array.sums_valid):
                sums[now] = list(ctx.get(array.sums))
            if not feed and now > closed[-1] + array.sums_latency + self.lanes:
                break
            if feed and self.rng.random() >= self.gap:
                first, closes, left, right = feed[0]
                if not first or self.since_first + 1 >= self.lanes:
                    feed.pop(0)
                    inputs.update(first=int(first), closes=int(first and closes))
                    if first and closes:
                        closed.append(now)
                    if left is not None:
                        inputs.update(valid=1, left=left, right=right)
            await self.step(ctx, **inputs)
        assert not self.results
        due = [cycle + array.sums_latency + row for cycle in closed for row in range(self.lanes)]
        assert list(sums) == due
        return np.array(list(sums.values())).reshape(len(tiles), self.lanes, self.lanes)


@pytest.mark.parametrize("lanes,element_width,gap", [
    (2, 16, 0.0), (2, 8, 0.4), (4, 16, 0.3), (4, 8, 0.0), (8, 16, 0.2), (16, 16, 0.1)])
def test_products(lanes, element_width, gap):
    config = PRESETS["tiny"].replace(lanes=lanes, element_width=element_width)
    rng = np.random.default_rng(lanes * element_width)
    array = SystolicArray(config)
    driver = Driver(array, lanes, rng, gap)
    phases = 3 if lanes == 16 else 9

    async def bench(ctx):
        for phase in range(phases):
            lengths = rng.integers(1, 5 * lanes if phase % 2 else 3, 3)
            if phase % 3 == 2:
                tiles = [(draw(rng, length, lanes, width=element_width),
                          draw(rng, length, lanes, width=element_width)) for length in lengths]
                sums = await driver.stationary_sums(ctx, tiles)
                for (left, right), found in zip(tiles, sums, strict=True):
                    np.testing.assert_array_equal(found, left.T @ right)
            else:
                from_side = phase % 3
                tiles = [(draw(rng, length, lanes, width=element_width),
                          draw(rng, lanes, lanes, width=element_width)) for length in lengths]
                results = await driver.stationary_weights(ctx, tiles, from_side)
                expected = [words @ (weights.T if from_side else weights)
                            for words, weights in tiles]
                np.testing.assert_array_equal(results, np.concatenate(expected))

    run(array, bench, cycles=5000)


def test_latency_and_shortest_tile():
    """A result comes exactly ``latency`` cycles after its word."""
    config = PRESETS["tiny"]
    array = SystolicArray(config)

    async def bench(ctx):
        ctx.set(array.load, 1)
        for row in ([3, 4], [1, 2]):
            ctx.set(array.weights, row)
            await ctx.tick()
        ctx.set(array.load, 0)
        ctx.set(array.valid, 1)
        ctx.set(array.first, 1)
        ctx.set(array.left, [10, 100])
        for cycle in range(array.latency + 3):
            assert ctx.get(array.result_valid) == (cycle == array.latency)
            if cycle == array.latency:
                assert list(ctx.get(array.result)) == [310, 420]
            await ctx.tick()
            ctx.set(array.valid, 0)
            ctx.set(array.first, 0)

    run(array, bench, cycles=100)
