# SPDX-License-Identifier: BSD-2-Clause
"""Reading of label lists: every kind of block, whole and in part, with idles and back-pressure."""

import numpy as np
import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import LOSS_WEIGHT_ONE
from hypercast.rtl.limits import CLASSES
from hypercast.rtl.vector.label_reader import LabelReader
from tests.bench import get, put, run
from tests.rtl.vector.vector_bench import pack, pack_list

_CONFIGS = {"2x16": PRESETS["tiny"], "4x16": PRESETS["test"],
            "16x8": PRESETS["test"].replace(lanes=16, element_width=8)}
_ADDRESS = 5


class _List:
    """A random list, as memory has it; rows behind the last one hold ones."""

    def __init__(self, config, rng, rows, panels, sigmoid, weighted):
        self.shape = {"rows": rows, "panels": panels, "sigmoid": sigmoid, "weighted": weighted}
        self.records = rng.integers(1 << 15, size=rows).tolist()
        self.weights = rng.integers(1 << 16, size=rows).tolist()
        self.bits = rng.integers(2, size=(rows, panels, config.lanes))
        block = config.info_rows
        self.words = []
        for first in range(0, rows, block):
            here = slice(first, first + block)
            parts = [self.records[here]] + [self.weights[here]] * weighted
            if sigmoid:
                parts.append([pack(panel, 1) for row in self.bits[here] for panel in row])
            for values, records in zip(parts, (block, *[block] * weighted, block * panels),
                                       strict=False):
                values = values + [0xFFFF] * (records - len(values))
                self.words += pack_list(values, 16, config.word_width)
        if not sigmoid:
            self.bits[:] = 0


@pytest.mark.parametrize("idle, stall", [(0.0, 0.0), (0.5, 0.1), (0.1, 0.6)])
@pytest.mark.parametrize("name", _CONFIGS)
def test_lists_one_after_the_other(name, idle, stall):
    config = _CONFIGS[name]
    rng = np.random.default_rng(1)
    lists = [_List(config, rng, rows, panels, sigmoid, weighted)
             for rows, panels in ((0, 1), (1, 1), (config.info_rows, 2), (19, 3), (7, 1), (1, 9),
                                   (1, CLASSES // config.lanes))
             for sigmoid in (0, 1) for weighted in (0, 1)]
    dut = LabelReader(config)

    async def serve(ctx):
        for each in lists:
            if each.words:
                [command] = await get(ctx, dut.source.command, 1, rng, stall)
                assert (command.channel, command.address, command.count) == (
                    1, _ADDRESS, len(each.words))
                await put(ctx, dut.source.words, each.words, rng, idle)

    async def take(ctx):
        for each in lists:
            ctx.set(dut.address, _ADDRESS)
            for field, value in each.shape.items():
                ctx.set(getattr(dut, field), value)
            ctx.set(dut.start, 1)
            await ctx.tick()
            ctx.set(dut.start, 0)
            for row, record in enumerate(each.records):
                # As the engine does: the row's label goes with its last panel.
                panels = await get(ctx, dut.bits, each.shape["panels"] - 1, rng, stall)
                while not (ctx.get(dut.bits.valid) and ctx.get(dut.labels.valid)):
                    await ctx.tick()
                panels.append(ctx.get(dut.bits.payload))
                label = ctx.get(dut.labels.payload)
                ctx.set(dut.bits.ready, 1)
                ctx.set(dut.labels.ready, 1)
                await ctx.tick()
                ctx.set(dut.bits.ready, 0)
                ctx.set(dut.labels.ready, 0)
                assert panels == [pack(panel, 1) for panel in each.bits[row]]
                assert (label.label, label.split) == (record & 0x1FFF, record >> 13)
                assert label.weight == (
                    each.weights[row] if each.shape["weighted"] else LOSS_WEIGHT_ONE)
            while ctx.get(dut.busy):
                await ctx.tick()

    run(dut, take, serve, cycles=30_000)
