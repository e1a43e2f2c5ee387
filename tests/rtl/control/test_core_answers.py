# SPDX-License-Identifier: BSD-2-Clause
"""CoreAnswers: one core's answer, and the sum over all, in whatever order they come."""

import numpy as np
import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.core_answers import CoreAnswers
from hypercast.rtl.layouts import bulk_width
from tests.bench import run

_CONFIGS = {f"{1 << dimensions} cores": PRESETS["tiny"].replace(dimensions=dimensions)
            for dimensions in (0, 1, 3, 4)}


async def _tick(ctx, dut, answers):
    """One cycle in which some cores answer; what comes out after it."""
    for core, (response, valid) in enumerate(zip(dut.responses, dut.responses_valid, strict=True)):
        ctx.set(response, answers.get(core, 0))
        ctx.set(valid, core in answers)
    await ctx.tick()
    for response, valid in zip(dut.responses, dut.responses_valid, strict=True):
        ctx.set(response, 0)
        ctx.set(valid, 0)
    return ctx.get(dut.response_valid), ctx.get(dut.response)


async def _ask(ctx, dut):
    ctx.set(dut.gather, 1)
    await ctx.tick()
    ctx.set(dut.gather, 0)


@pytest.mark.parametrize("config", _CONFIGS.values(), ids=_CONFIGS)
@pytest.mark.parametrize("bulk", [False, True])
def test_sums_and_single_answers(config, bulk):
    dut = CoreAnswers(config, bulk=bulk)
    width = bulk_width(config) if bulk else 32
    rng = np.random.default_rng(config.cores)

    async def bench(ctx):
        for number in range(60):
            if number % 3 == 0:  # one core, alone
                core, value = int(rng.integers(config.cores)), int(rng.integers(1 << 32))
                value |= value << width - 32
                assert await _tick(ctx, dut, {core: value}) == (1, value)
                assert (await _tick(ctx, dut, {}))[0] == 0
                continue
            values = [int(value) for value in rng.integers(1 << 32, size=config.cores)]
            if number == 1:
                values = [0xFFFFFFFF] * config.cores
            moments = rng.integers(6 if number % 2 else 1, size=config.cores)
            await _ask(ctx, dut)
            upper = number // 3 % 2
            ctx.set(dut.upper, upper)
            found = []
            for cycle in range(10):
                valid, response = await _tick(ctx, dut, {
                    core: value for core, value in enumerate(values) if moments[core] == cycle})
                if valid:
                    found.append((cycle, response))
            shift = 32 * upper
            assert found == [(max(moments) + 1, sum(values) >> shift & 0xFFFFFFFF)]

    run(dut, bench)


def test_an_answer_that_never_comes():
    """After ``end``, answers are single ones again, and a later sum has none of the old ones."""
    config = _CONFIGS["8 cores"]
    dut = CoreAnswers(config)

    async def bench(ctx):
        await _ask(ctx, dut)
        for _ in range(5):
            assert (await _tick(ctx, dut, {3: 7}))[0] == 0
        ctx.set(dut.end, 1)
        await ctx.tick()
        ctx.set(dut.end, 0)
        assert await _tick(ctx, dut, {5: 9}) == (1, 9)
        await _ask(ctx, dut)
        assert (await _tick(ctx, dut, dict.fromkeys(range(8), 2)))[0] == 0
        assert await _tick(ctx, dut, {}) == (1, 16)

    run(dut, bench)
