# SPDX-License-Identifier: BSD-2-Clause
"""RowTable: written by the host, read by both sides."""

import numpy as np

from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.row_table import RowTable
from tests.bench import run
from tests.rtl.flips import flip, parity_memories  # noqa: F401


def test_entries():
    rng = np.random.default_rng(0)
    config = PRESETS["tiny"].replace(row_counts=64)
    dut = RowTable(config)
    rows = rng.integers(1 << 20, size=config.row_counts)

    async def bench(ctx):
        ctx.set(dut.host_write, 1)
        for index, count in enumerate(rows):
            ctx.set(dut.host_index, index)
            ctx.set(dut.host_data, int(count))
            await ctx.tick()
        ctx.set(dut.host_write, 0)
        ctx.set(dut.host_data, 0)
        for index, other in enumerate(rng.permutation(config.row_counts)):
            ctx.set(dut.index, index)
            ctx.set(dut.host_index, int(other))
            await ctx.tick()
            assert ctx.get(dut.rows) == rows[index]
            assert ctx.get(dut.host_rows) == rows[other]

    run(dut, bench)


def test_a_changed_entry_is_reported(parity_memories):  # noqa: F811
    dut = RowTable(PRESETS["tiny"])

    async def bench(ctx):
        [memory] = parity_memories
        flip(ctx, memory, 5, 19)
        for index in (4, 5, 6):
            ctx.set(dut.index, index)
            await ctx.tick().repeat(2)
            assert ctx.get(dut.fault) == (index == 5)

    run(dut, bench)
