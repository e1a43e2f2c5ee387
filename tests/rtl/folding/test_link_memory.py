# SPDX-License-Identifier: BSD-2-Clause
"""LinkMemory: in every slot, what the neighbour announced a cycle of the chip ago."""

import random

import pytest

from hypercast.rtl.folding.link_memory import LinkMemory
from tests.bench import run

WIDTH = 7


@pytest.mark.parametrize("dimensions, dimension", [(2, 0), (2, 1), (4, 0), (4, 3)])
def test_neighbours_hear_each_other(dimensions, dimension):
    dut = LinkMemory(dimension, dimensions, WIDTH)
    rng = random.Random(dimensions)
    slots = 1 << dimensions

    async def bench(ctx):
        said = None
        for _ in range(6):
            saying = [rng.randrange(1 << WIDTH) for _ in range(slots)]
            for slot in range(slots):
                ctx.set(dut.slot, slot)
                ctx.set(dut.outgoing, saying[slot - 1] if slot else (said or saying)[-1])
                if said:
                    assert ctx.get(dut.incoming) == said[slot ^ 1 << dimension]
                await ctx.tick()
            said = saying

    run(dut, bench)
