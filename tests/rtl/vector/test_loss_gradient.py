# SPDX-License-Identifier: BSD-2-Clause
"""LossGradient: of each row, with random idles and back-pressure on every stream."""

import numpy as np
import pytest

from hypercast.reference import arithmetic
from hypercast.rtl.config import PRESETS
from hypercast.rtl.vector.loss_gradient import LossGradient
from tests.bench import get, put, run
from tests.rtl.flips import check_tables, parity_memories  # noqa: F401
from tests.rtl.vector.loss_rows import CONFIGS, EITHER, PRESSURE, ROWS, SHIFT, Rows, configure


@pytest.mark.grid
@CONFIGS
@PRESSURE
@EITHER
def test_gradient(config, idle, stall, sigmoid):
    rows = Rows(4, config, sigmoid)
    dut = LossGradient(config)
    inputs = [{"trained": int(rows.trained[i]), "n": int(rows.n[i]),
               "weight": int(rows.weights[i]), "reciprocal": int(rows.reciprocal[i])}
              for i in range(ROWS)]
    gradient = np.zeros_like(rows.logits)
    gradient[:, :rows.classes] = np.where(rows.trained[:, None], rows.result.gradient, 0)
    expected, saturated = arithmetic.requantize(gradient, SHIFT, rows.width)
    seen = {"magnitude": 0, "saturations": 0}

    async def begin(ctx):
        configure(ctx, dut, rows, shift=SHIFT, sigmoid=sigmoid)

    async def watch(ctx):
        while True:
            _, _, magnitude, saturations = await ctx.tick().sample(dut.magnitude, dut.saturations)
            seen["magnitude"] |= magnitude
            seen["saturations"] += saturations

    async def results(ctx):
        got = await get(ctx, dut.o, len(expected.ravel()) // rows.lanes, rows.rng, stall)
        assert [list(group) for group in got] == expected.reshape(-1, rows.lanes).tolist()
        assert seen == {"magnitude": arithmetic.magnitude(gradient), "saturations": saturated}

    run(dut, begin, results, lambda ctx: put(ctx, dut.i, inputs, rows.rng, idle),
        lambda ctx: put(ctx, dut.powers, rows.entries(rows.trained), rows.rng, idle),
        background=[watch], cycles=5000)


def test_a_changed_table_is_reported(parity_memories):  # noqa: F811
    check_tables(LossGradient(PRESETS["test"]), parity_memories, 4)
