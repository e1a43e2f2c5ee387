# SPDX-License-Identifier: BSD-2-Clause
"""Metrics: losses, hits and misses go to their split, also past 32 bits; clearing wins."""

import random

import pytest

from hypercast.rtl import isa
from hypercast.rtl.vector.metrics import Metrics
from tests.bench import run

_WIDTH = 40
_SPLITS = (isa.Split.TRAIN, isa.Split.VALIDATION, isa.Split.TEST)


@pytest.mark.parametrize("seed", [1, 2])
def test_sums_follow_the_model(seed):
    rng = random.Random(seed)
    dut = Metrics(_WIDTH)

    async def bench(ctx):
        losses, hits, misses = [0] * 3, [0] * 3, [0] * 3
        peak = 0
        for _ in range(400):
            values = {"valid": rng.random() < 0.7, "loss": rng.getrandbits(_WIDTH),
                      "correct": rng.randrange(513), "wrong": rng.randrange(513),
                      "split": rng.randrange(4), "clear": rng.random() < 0.02}
            for name, value in values.items():
                ctx.set(getattr(dut, name), value)
            await ctx.tick()
            for index, split in enumerate(_SPLITS):
                if values["valid"] and values["split"] == split:
                    losses[index] += values["loss"]
                    hits[index] += values["correct"]
                    misses[index] += values["wrong"]
                if values["clear"]:
                    losses[index] = hits[index] = misses[index] = 0
                assert ctx.get(dut.losses[index]) == losses[index]
                assert ctx.get(dut.hits[index]) == hits[index]
                assert ctx.get(dut.misses[index]) == misses[index]
            peak = max(peak, *losses)
        assert peak >> _WIDTH  # sums were longer than a loss

    run(dut, bench)
