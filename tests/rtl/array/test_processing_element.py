# SPDX-License-Identifier: BSD-2-Clause
"""ProcessingElement, cycle by cycle, against the recurrences of its docstring."""

import numpy as np
import pytest

from hypercast.rtl.array.processing_element import ProcessingElement
from hypercast.rtl.config import PRESETS
from tests.bench import run

INPUTS = ("left", "load", "from_side", "shadow_above", "shadow_left", "take", "sum_above")


@pytest.mark.parametrize("element_width", [8, 16])
@pytest.mark.parametrize("gradient", [0, 1])
def test_registers(element_width, gradient):
    config = PRESETS["tiny"].replace(element_width=element_width)
    cell = ProcessingElement(config)
    rng = np.random.default_rng(element_width)
    element, accumulator = 1 << element_width - 1, 1 << config.accumulator_width - 2

    def draw(name):
        if name in ("load", "from_side", "take"):
            return int(rng.integers(2))
        limit = accumulator if name == "sum_above" else element
        return int(rng.choice([-limit, limit - 1, *rng.integers(-limit, limit, 3)]))

    async def bench(ctx):
        ctx.set(cell.gradient, gradient)
        right = shadow = weight = product = total = 0
        for _ in range(300):
            x = {name: draw(name) for name in INPUTS}
            for name, value in x.items():
                ctx.set(getattr(cell, name), value)
            await ctx.tick()
            total = (total if gradient else x["sum_above"]) + product
            product = right * weight
            weight = shadow if x["take"] else weight
            if x["load"]:
                shadow = x["shadow_left"] if x["from_side"] else x["shadow_above"]
            right = x["left"]
            assert (ctx.get(cell.right), ctx.get(cell.shadow), ctx.get(cell.sum)) == (
                right, shadow, total)

    run(cell, bench, cycles=1000)
