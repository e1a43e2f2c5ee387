# SPDX-License-Identifier: BSD-2-Clause
"""Counters against sums in Python."""

import numpy as np
import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.control.counters import Counters, Increments
from hypercast.rtl.registers import COUNTERS
from tests.bench import run


@pytest.mark.parametrize(("dimensions", "planes", "eject"), [(0, 1, 1), (2, 2, 2), (6, 4, 4)])
def test_random_increments(dimensions, planes, eject):
    config = PRESETS["tiny"].replace(dimensions=dimensions, planes=planes, eject=eject)
    rng = np.random.default_rng(dimensions)
    dut = Counters(config)
    names = list(Increments(config).members)
    expected = dict.fromkeys(COUNTERS, 0)
    assert set(names) <= set(expected)

    async def read_all(ctx):
        for index, name in enumerate(COUNTERS):
            ctx.set(dut.address, index)
            await ctx.tick()
            assert ctx.get(dut.data) == expected[name], name

    async def bench(ctx):
        for split, name in enumerate(("train", "validation", "test")):
            loss, hits, misses = (int(rng.integers(1 << bits)) for bits in (63, 32, 32))
            ctx.set(dut.losses[split], loss)
            ctx.set(dut.hits[split], hits)
            ctx.set(dut.misses[split], misses)
            expected[f"loss_{name}"] = loss & 0xFFFFFFFF
            expected[f"loss_{name}_high"] = loss >> 32
            expected[f"correct_{name}"] = hits
            expected[f"wrong_{name}"] = misses
        for cycle in range(700):
            clear = cycle == 50
            steady = 100 < cycle < 500  # as fast as counters can grow, so that all of them wrap
            ctx.set(dut.clear, clear)
            for name in names:
                increment = getattr(dut.increments, name)
                most = (1 << len(increment)) - 1
                value = most if steady else int(rng.integers(most + 1))
                ctx.set(increment, value)
                expected[name] = 0 if clear else expected[name] + value
            await ctx.tick()
        for name in names:
            ctx.set(getattr(dut.increments, name), 0)
        await ctx.tick()
        await read_all(ctx)
        ctx.set(dut.clear, 1)
        await ctx.tick()
        expected.update(dict.fromkeys(names, 0))
        await read_all(ctx)

    run(dut, bench)


def test_widths():
    """Every counter can grow by as much as its block may ask for."""
    config = PRESETS["cora"].replace(eject=4)
    members = Increments(config).members
    widths = {name: members[name].shape.stop if isinstance(members[name].shape, range)
              else members[name].shape for name in members}
    assert widths["edges"] == widths["edge_starved"] == 5
    assert widths["saturations"] == 49
    assert "link_3" in members and "link_4" not in members
