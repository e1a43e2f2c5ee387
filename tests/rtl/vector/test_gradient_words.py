"""GradientWords: panels are full of their groups, and zero where a row has none."""

import numpy as np

from hypercast.rtl.config import PRESETS
from hypercast.rtl.vector.gradient_words import GradientWords
from tests.bench import get, put, run
from tests.rtl.vector.group_cases import GROUP_SHAPES, IDLES
from tests.rtl.vector.vector_bench import unpack

_ROWS = 12


@GROUP_SHAPES
@IDLES
def test_rows(lanes, element_width, groups, idle, stall):
    config = PRESETS["test"].replace(lanes=lanes, element_width=element_width)
    rng = np.random.default_rng(groups)
    size = min(lanes, 4)
    count = groups * size
    panels = -(-count // lanes)
    half = 1 << element_width - 1
    gradients = np.zeros((_ROWS, panels * lanes), dtype=int)
    gradients[:, :count] = rng.integers(-half, half, size=(_ROWS, count))
    dut = GradientWords(config)

    async def check(ctx):
        ctx.set(dut.groups, groups)
        got = await get(ctx, dut.o, _ROWS * panels, rng, stall)
        assert [unpack(word, element_width, lanes) for word in got] == gradients.reshape(
            -1, lanes).tolist()

    run(dut, check, lambda ctx: put(
        ctx, dut.i, gradients[:, :count].reshape(-1, size).tolist(), rng, idle), cycles=2000)
