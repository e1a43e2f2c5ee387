"""SystolicArray against matrix products in NumPy."""

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
        for name in ("valid", "first", "load", "shift"):
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
        """Streams each (left, right) and reads the sums as early as the contract allows."""
        array = self.array
        ctx.set(array.gradient, 1)
        gradients = []
        rows = self.lanes  # of the chain that have been taken out
        late = 0           # of the tile before, that follow a ``first`` without a pause
        captured = 0       # tiles captured, and the first, which ends none
        feed = [(row == 0, left[row], right[row])
                for left, right in tiles for row in range(len(left))]
        feed.append((True, None, None))
        self.since_first = array.shift_distance
        while feed or len(gradients) < self.lanes * len(tiles):
            inputs = {}
            waited = self.since_first + 1 >= array.shift_distance
            if ctx.get(array.sums_valid):
                gradients.append(list(ctx.get(array.result)))
            if late:
                inputs.update(shift=1)
                late -= 1
            elif rows < self.lanes and waited and self.rng.random() >= self.gap:
                inputs.update(shift=1)
                rows += 1
            if feed and self.rng.random() >= self.gap:
                first, left, right = feed[0]
                overlaps = "shift" in inputs and self.lanes - rows <= array.shift_overlap
                if not first or (waited and (rows == self.lanes or overlaps)):
                    feed.pop(0)
                    inputs.update(first=int(first))
                    if left is not None:
                        inputs.update(valid=1, left=left, right=right)
                    if first:
                        late = self.lanes - rows
                        rows = 0 if captured else self.lanes
                        captured += 1
            await self.step(ctx, **inputs)
        assert not self.results
        return np.array(gradients).reshape(len(tiles), self.lanes, self.lanes)[:, ::-1]


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
