# SPDX-License-Identifier: BSD-2-Clause
"""LogitGroups: every group with classes, with its bits, and none besides."""

import numpy as np

from hypercast.rtl.config import PRESETS
from hypercast.rtl.limits import group_size
from hypercast.rtl.vector.logit_groups import LogitGroups
from tests.bench import get, put, run
from tests.rtl.vector.group_cases import GROUP_SHAPES, IDLES
from tests.rtl.vector.vector_bench import pack

_ROWS = 12


@GROUP_SHAPES
@IDLES
def test_rows(lanes, element_width, groups, idle, stall):
    config = PRESETS["test"].replace(lanes=lanes, element_width=element_width)
    rng = np.random.default_rng(groups)
    size = group_size(config)
    panels = -(-groups * size // lanes)
    logits = rng.integers(1 << element_width, size=(_ROWS, panels * lanes))
    bits = rng.integers(2, size=logits.shape)
    dut = LogitGroups(config)

    def packed(matrix, width, count):
        return [pack(part, width) for row in matrix for part in row.reshape(-1, count)]

    def of_groups(matrix, width):
        return packed(matrix[:, :groups * size], width, size)

    async def check(ctx):
        ctx.set(dut.groups, groups)
        expected = [group | labels << size * element_width for group, labels in zip(
            of_groups(logits, element_width), of_groups(bits, 1), strict=True)]
        got = await get(ctx, dut.o, len(expected), rng, stall)
        assert [group.as_bits() for group in got] == expected

    run(dut, check,
        lambda ctx: put(ctx, dut.words, packed(logits, element_width, lanes), rng, idle),
        lambda ctx: put(ctx, dut.bits, packed(bits, 1, lanes), rng, idle), cycles=2000)
