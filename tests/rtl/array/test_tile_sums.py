# SPDX-License-Identifier: BSD-2-Clause
"""TileSums against differences of running sums."""

import numpy as np
import pytest

from hypercast.rtl.array.tile_sums import TileSums
from hypercast.rtl.config import PRESETS
from tests.bench import run


@pytest.mark.parametrize("lanes,element_width", [(2, 8), (4, 16)])
def test_differences(lanes, element_width):
    """Tiles follow each other at once or later; sums wrap; rows between tiles are not looked at."""
    config = PRESETS["tiny"].replace(lanes=lanes, element_width=element_width)
    dut = TileSums(config)
    rng = np.random.default_rng(lanes)
    limit = 1 << config.accumulator_width - 1
    tiles = rng.integers(-limit, limit, (30, lanes, lanes))
    wanted = rng.random(30) < 0.7
    wanted[0] = False  # what the first one is compared with is not known
    begins = np.cumsum(lanes + np.where(rng.random(30) < 0.5, 0, rng.integers(0, 4, 30)))
    expected = {}
    for number in np.flatnonzero(wanted):
        for row in range(lanes):
            change = tiles[number][row] - tiles[number - 1][row]
            expected[begins[number] + TileSums.LATENCY + row] = [
                int(value + limit) % (2 * limit) - limit for value in change]

    async def bench(ctx):
        found = {}
        for now in range(begins[-1] + lanes + TileSums.LATENCY):
            number = np.searchsorted(begins, now)
            starts = number < len(begins) and begins[number] == now
            ctx.set(dut.start, int(starts))
            ctx.set(dut.wanted, int(starts and wanted[number]))
            running = np.searchsorted(begins, now - 2, side="right") - 1
            row = now - 2 - begins[running]
            value = tiles[running][row] if running >= 0 and row < lanes \
                else rng.integers(-limit, limit, lanes)
            ctx.set(dut.row, value.tolist())
            if ctx.get(dut.sums_valid):
                found[now] = list(ctx.get(dut.sums))
            await ctx.tick()
        assert found == expected

    run(dut, bench, cycles=1000)
