# SPDX-License-Identifier: BSD-2-Clause
"""TileLoader: the rows of every tile, last first, not before the tile before it is in use."""

import numpy as np
import pytest

from hypercast.rtl.array.tile_loader import TileLoader
from hypercast.rtl.config import PRESETS
from tests.bench import run

_CONFIGS = {"tiny": PRESETS["tiny"], "test": PRESETS["test"], "wide": PRESETS["test"].replace(
    lanes=8)}


class _Bench:
    """A loader, a weight bank that is at times busy, and an array that takes tiles at times."""

    def __init__(self, config, refused=0.0, patience=0.0):
        self.dut, self.rows = TileLoader(config), config.weight_rows
        self.loaded = []  # rows, and None for a tile that is taken
        self.gaps = []  # cycles from a tile that is taken to the next that is ready
        self._refused, self._patience = refused, patience
        self._rng = np.random.default_rng(config.lanes)

    async def load(self, ctx, weights, stride, tiles):
        """Load tiles until none is left; then wait, as nothing may follow."""
        dut, rng = self.dut, self._rng
        for name, value in (("start", 1), ("weights", weights), ("stride", stride),
                            ("tiles", tiles)):
            ctx.set(getattr(dut, name), value)
        since, taken, idle, asked = 0, 0, 0, None
        while taken < tiles or idle < 30:
            ready = ctx.get(dut.ready)
            if ready and since is not None:
                self.gaps.append(since)
                since = None
            take = ready and rng.random() >= self._patience
            ctx.set(dut.take, take)
            ctx.set(dut.port.request.ready, rng.random() >= self._refused)
            if ctx.get(dut.load):
                assert asked is not None, "a row that was not asked for"
                self.loaded.append(asked)
            asked = None
            if ctx.get(dut.port.request.valid & dut.port.request.ready):
                asked = ctx.get(dut.port.request.payload)
            if take:
                self.loaded.append(None)
                taken += 1
            await ctx.tick()
            ctx.set(dut.start, 0)
            for name in ("weights", "tiles"):
                ctx.set(getattr(dut, name), int(rng.integers(1 << 14)))
            since = 1 if take else since if since is None else since + 1
            idle = idle + 1 if taken == tiles else 0
        ctx.set(dut.take, 0)


@pytest.mark.parametrize("config", _CONFIGS.values(), ids=_CONFIGS)
@pytest.mark.parametrize(("refused", "patience"), [(0.0, 0.0), (0.6, 0.0), (0.0, 0.9), (0.4, 0.6)])
def test_rows_of_tiles(config, refused, patience):
    rng = np.random.default_rng(3)
    bench = _Bench(config, refused, patience)
    expected = []

    async def testbench(ctx):
        for tiles in (1, 0, 5, 2, 9):
            stride = int(rng.integers(config.weight_rows // 10))
            weights = int(rng.integers(config.weight_rows // 10 - config.lanes))
            await bench.load(ctx, weights, stride, tiles)
            for tile in range(tiles):
                base = weights + tile * stride
                expected.extend([*range(base + config.lanes - 1, base - 1, -1), None])

    run(bench.dut, testbench)
    assert bench.loaded == expected


@pytest.mark.parametrize("config", _CONFIGS.values(), ids=_CONFIGS)
def test_cycles_per_tile(config):
    bench = _Bench(config)
    run(bench.dut, lambda ctx: bench.load(ctx, 3, config.lanes, 6))
    assert bench.gaps[1:6] == [config.lanes + 1] * 5


@pytest.mark.parametrize("tiles", [1 << bit for bit in range(14)])
def test_as_many_tiles_as_an_instruction_can_have(tiles):
    bench = _Bench(PRESETS["tiny"])

    async def testbench(ctx):
        dut = bench.dut
        ctx.set(dut.tiles, tiles)
        ctx.set(dut.start, 1)
        await ctx.tick()
        ctx.set(dut.start, 0)
        ctx.set(dut.port.request.ready, 1)
        assert ctx.get(dut.port.request.valid)
        await ctx.tick().repeat(PRESETS["tiny"].lanes)
        ctx.set(dut.take, 1)
        await ctx.tick()
        assert ctx.get(dut.port.request.valid) == (tiles > 1)

    run(bench.dut, testbench)
