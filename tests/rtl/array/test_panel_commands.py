# SPDX-License-Identifier: BSD-2-Clause
"""PanelCommands: a command for each panel of a matrix."""

import numpy as np
import pytest

from hypercast.rtl.array.panel_commands import PanelCommands
from hypercast.rtl.config import PRESETS
from tests.bench import get, run, shared

CONFIG = PRESETS["tiny"]


@pytest.mark.parametrize("stall", [0.0, 0.5])
def test_commands(stall):
    """Matrices follow each other; what is only valid with ``start`` changes after it."""
    dut = shared(PanelCommands, CONFIG)
    rng = np.random.default_rng(0)
    words = CONFIG.channel_words

    async def bench(ctx):
        for panels in (3, 1, 0, 17, 2, 0, 5):
            rows, channel = int(rng.integers(1, words + 1)), int(rng.integers(2))
            address, stride = (int(value) for value in rng.integers(words, size=2))
            for name, value in {"rows": rows, "channel": channel, "stride": stride,
                                "address": address, "panels": panels, "start": 1}.items():
                ctx.set(getattr(dut, name), value)
            await ctx.tick()
            for name, value in {"address": ~address, "panels": ~panels, "start": 0}.items():
                ctx.set(getattr(dut, name), value)
            found = await get(ctx, dut.o, panels, rng, stall)
            assert [(command.channel, command.address, command.count) for command in found] == [
                (channel, (address + panel * stride) % words, rows) for panel in range(panels)]
            ctx.set(dut.o.ready, 1)
            for _ in range(3):
                _, _, valid = await ctx.tick().sample(dut.o.valid)
                assert not valid
            ctx.set(dut.o.ready, 0)

    run(dut, bench, cycles=1000)


def test_a_command_every_cycle_from_the_one_after_start():
    dut = shared(PanelCommands, CONFIG)

    async def bench(ctx):
        ctx.set(dut.panels, 4)
        ctx.set(dut.start, 1)
        ctx.set(dut.o.ready, 1)
        await ctx.tick()
        ctx.set(dut.start, 0)
        assert [(await ctx.tick().sample(dut.o.valid))[2] for _ in range(6)] == [1] * 4 + [0] * 2

    run(dut, bench)
