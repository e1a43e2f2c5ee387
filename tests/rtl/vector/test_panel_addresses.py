# SPDX-License-Identifier: BSD-2-Clause
"""Tests of the walk through a matrix."""

import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.vector.panel_addresses import PanelAddresses
from tests.bench import run


@pytest.mark.parametrize("panels, step", [(1, 1), (2, 1), (5, 1), (1, 16), (3, 7)])
def test_row_by_row(panels, step):
    dut = PanelAddresses(PRESETS["test"])
    base, stride, rows = 100, 37, 6

    async def bench(ctx):
        ctx.set(dut.panels, panels)
        ctx.set(dut.stride, stride)
        ctx.set(dut.step, step)
        for _ in range(2):
            ctx.set(dut.base, base)
            ctx.set(dut.start, 1)
            await ctx.tick()
            ctx.set(dut.start, 0)
            ctx.set(dut.base, 0)
            for row in range(0, rows * step, step):
                for panel in range(panels):
                    ctx.set(dut.advance, 0)
                    await ctx.tick()
                    assert ctx.get(dut.address) == base + panel * stride + row
                    assert ctx.get(dut.last) == (panel == panels - 1)
                    ctx.set(dut.advance, 1)
                    await ctx.tick()
            ctx.set(dut.advance, 0)

    run(dut, bench, cycles=500)
