# SPDX-License-Identifier: BSD-2-Clause
"""Tests of the dropout hash against ``arithmetic.keep_mask``."""

import numpy as np
import pytest

from hypercast.reference import arithmetic
from hypercast.rtl.config import PRESETS
from hypercast.rtl.lib.dropout import Dropout
from tests.bench import run


def _expected(config, case):
    features = case["panel"] * config.lanes + np.arange(config.lanes)
    keep = arithmetic.keep_mask(case["key"], case["threshold"], [case["rank"]], features)
    return sum(int(bit) << lane for lane, bit in enumerate(keep))


def _random_cases(rng, count):
    return [{"key": int(rng.integers(1 << 32)), "threshold": int(rng.integers(1 << 16)),
             "rank": int(rng.integers(1 << 32)), "panel": int(rng.integers(1 << 14))}
            for _ in range(count)]


@pytest.mark.parametrize("lanes", [2, 4, 8, 16])
def test_matches_reference_with_stalls(lanes):
    config = PRESETS["test"].replace(lanes=lanes)
    rng = np.random.default_rng(lanes)
    largest = {"key": 2**32 - 1, "threshold": 2**16 - 1, "rank": 2**32 - 1, "panel": 2**14 - 1}
    cases = [dict.fromkeys(largest, 0), largest, *_random_cases(rng, 60)]
    dut = Dropout(config)

    async def bench(ctx):
        inputs = iter(cases)
        under_way = []
        kept = []
        while len(kept) < len(cases):
            enable = bool(rng.random() < 0.7)
            ctx.set(dut.enable, enable)
            case = next(inputs, None) if enable else None
            # Garbage while the pipeline stands still or has nothing to do.
            for name, value in (case or _random_cases(rng, 1)[0]).items():
                ctx.set(getattr(dut, name), value)
            _, _, keep = await ctx.tick().sample(dut.keep)
            if enable:
                if len(under_way) >= dut.LATENCY and under_way[-dut.LATENCY] is not None:
                    kept.append(keep)
                under_way.append(case)
        assert kept == [_expected(config, case) for case in cases]

    run(dut, bench, cycles=2000)


def _largest_threshold(case, feature):
    """The one that just keeps a feature."""
    low, high = 0, 1 << 16
    while high - low > 1:
        middle = (low + high) // 2
        kept = arithmetic.keep_mask(case["key"], middle, [case["rank"]], [feature])[0]
        low, high = (middle, high) if kept else (low, middle)
    return low


@pytest.mark.parametrize("lanes", [2, 4])
def test_an_element_is_kept_up_to_its_threshold(lanes):
    config = PRESETS["test"].replace(lanes=lanes)
    cases = []
    for number, case in enumerate(_random_cases(np.random.default_rng(lanes), 16)):
        largest = _largest_threshold(case, case["panel"] * lanes + number % lanes)
        cases += [{**case, "threshold": min(largest + more, 65535)} for more in (0, 1)]
    dut = Dropout(config)

    async def bench(ctx):
        ctx.set(dut.enable, 1)
        kept = []
        for case in cases + cases[:1] * dut.LATENCY:
            for name, value in case.items():
                ctx.set(getattr(dut, name), value)
            _, _, keep = await ctx.tick().sample(dut.keep)
            kept.append(keep)
        assert kept[dut.LATENCY:] == [_expected(config, case) for case in cases]

    run(dut, bench, cycles=100)


def test_threshold_zero_keeps_everything():
    config = PRESETS["test"]
    dut = Dropout(config)

    async def bench(ctx):
        ctx.set(dut.enable, 1)
        for rank in range(20):
            ctx.set(dut.rank, rank)
            _, _, keep = await ctx.tick().sample(dut.keep)
            if rank >= dut.LATENCY:
                assert keep == (1 << config.lanes) - 1

    run(dut, bench, cycles=100)


def test_share_of_dropped_elements():
    config = PRESETS["test"].replace(lanes=16)
    dut = Dropout(config)
    vertices = 500

    async def bench(ctx):
        ctx.set(dut.enable, 1)
        ctx.set(dut.key, 12345)
        ctx.set(dut.threshold, 1 << 15)
        kept = 0
        for rank in range(vertices + dut.LATENCY):
            ctx.set(dut.rank, rank)
            _, _, keep = await ctx.tick().sample(dut.keep)
            if rank >= dut.LATENCY:
                kept += keep.bit_count()
        elements = vertices * config.lanes
        assert abs(kept - elements / 2) < 4 * np.sqrt(elements / 4)

    run(dut, bench, cycles=1000)
