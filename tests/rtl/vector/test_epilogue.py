# SPDX-License-Identifier: BSD-2-Clause
"""Tests of the epilogue's stages, rows with gaps between them."""

import numpy as np
import pytest

from hypercast.reference import arithmetic
from hypercast.rtl.config import PRESETS
from hypercast.rtl.vector.epilogue import Epilogue
from tests.bench import run
from tests.rtl.vector.vector_bench import unpack


@pytest.mark.parametrize("element_width", [8, 16])
@pytest.mark.parametrize("relu, shift, scale", [(0, 0, 0), (1, 3, 65535), (0, 20, 1), (1, 31, 0)])
def test_matches_reference(element_width, relu, shift, scale):
    config = PRESETS["test"].replace(element_width=element_width)
    rng = np.random.default_rng(shift)
    width, lanes = config.accumulator_width, config.lanes
    rows = rng.integers(-1 << width - 1, 1 << width - 1, size=(60, lanes)) >> rng.integers(
        width, size=(60, lanes))
    rows[0], rows[1] = (1 << width - 1) - 1, -1 << width - 1
    bias = rng.choice([0, 1, -(1 << width - 2), (1 << width - 2) - 1], size=lanes)
    keeps = rng.random(rows.shape) < 0.7
    sums = rows + bias
    kept = np.where(keeps & ((sums > 0) | (not relu)), sums, 0)
    words, _ = arithmetic.requantize(kept, shift, element_width)
    saturated = [arithmetic.requantize(row, shift, element_width)[1] for row in kept]
    if scale:
        words, _ = arithmetic.requantize(words * scale, 16, element_width)
    masks = ((keeps & (sums > 0)) << np.arange(lanes)).sum(axis=1)
    dut = Epilogue(config)

    async def bench(ctx):
        for name, value in (("bias", bias.tolist()), ("relu", relu), ("shift", shift),
                            ("scale", scale)):
            ctx.set(getattr(dut, name), value)
        entered = []
        got = []
        total = largest = sent = 0
        while len(got) < len(rows):
            valid = sent < len(rows) and rng.random() < 0.7
            ctx.set(dut.valid, valid)
            if valid:
                ctx.set(dut.row, rows[sent].tolist())
                ctx.set(dut.keep, int((keeps[sent] << np.arange(lanes)).sum()))
                sent += 1
            entered.append(valid)
            _, _, out, word, mask, magnitude, saturations = await ctx.tick().sample(
                dut.o_valid, dut.word, dut.mask, dut.magnitude, dut.saturations)
            assert out == (len(entered) > dut.LATENCY and entered[-1 - dut.LATENCY])
            total += saturations
            largest |= magnitude
            if out:
                got.append((unpack(word, element_width, lanes), mask))
        assert got == list(zip(words.tolist(), masks, strict=True))
        assert total == sum(saturated)
        assert largest == arithmetic.magnitude(kept)

    run(dut, bench, cycles=1000)


def test_a_magnitude_is_that_of_one_row():
    """When no row follows a large one, there is nothing more of it."""
    config = PRESETS["test"]
    dut = Epilogue(config)

    async def bench(ctx):
        ctx.set(dut.keep, (1 << config.lanes) - 1)
        ctx.set(dut.row, [1 << config.accumulator_width - 2] * config.lanes)
        ctx.set(dut.valid, 1)
        await ctx.tick()
        ctx.set(dut.valid, 0)
        found = []
        for _ in range(10):
            await ctx.tick()
            found.append(ctx.get(dut.magnitude))
        assert [value for value in found if value] == [1 << config.accumulator_width - 2]

    run(dut, bench)


def test_nothing_has_no_magnitude():
    """Neither rows that are not there nor zeros."""
    config = PRESETS["test"]
    dut = Epilogue(config)

    async def bench(ctx):
        ctx.set(dut.keep, (1 << config.lanes) - 1)
        for cycle in range(40):
            ctx.set(dut.valid, 10 < cycle < 20)
            ctx.set(dut.row, [0 if 10 < cycle < 20 else 1 << 30] * config.lanes)
            _, _, magnitude, saturations = await ctx.tick().sample(dut.magnitude, dut.saturations)
            assert (magnitude, saturations) == (0, 0)

    run(dut, bench, cycles=100)


def test_depth_of_the_pipeline():
    """A deeper one computes the same, but all cycles that were measured change."""
    assert Epilogue.LATENCY == 10
