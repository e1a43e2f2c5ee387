# SPDX-License-Identifier: BSD-2-Clause
"""What DRAIN and LOSS write is also stored where their ``bypass`` says."""

import pytest

from hypercast.rtl.config import PRESETS
from hypercast.rtl.isa import Bypass, DrainSource, Opcode
from tests.rtl.vector.vector_bench import VectorBench, pack

_CONFIG = PRESETS["test"]
_BASES = {"left_base": 100, "right_base": 37, "send_base": 5}


class KeepingBench(VectorBench):
    """Records what is stored: (row, last, word) by memory and address."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.stored = {target: {} for target in Bypass}

    async def execute(self, ctx, opcode, **operands):
        for target in Bypass:
            self.stored[target].clear()
        result = await super().execute(ctx, opcode, **operands)
        assert not any(ctx.get(self.dut.bypass[target].storing) for target in Bypass)
        return result

    def run(self, testbench):
        async def watch(ctx):
            ports = [self.dut.bypass[target] for target in Bypass]
            while True:
                _, _, *states = await ctx.tick().sample(*[
                    signal for port in ports for signal in
                    (port.storing, port.valid, port.rows, port.address, port.row, port.last,
                     port.word)])
                for target in Bypass:
                    storing, valid, rows, address, row, last, word = \
                        states[7 * target:7 * target + 7]
                    if valid:
                        assert storing and rows == len(self.stored[target])
                        self.stored[target][address] = row, last, word

        super().run(testbench, watch)


@pytest.mark.grid
@pytest.mark.parametrize("bypass", range(8))
@pytest.mark.parametrize("stall, latency", [(0.0, 1), (0.4, 30)])
def test_drain(bypass, stall, latency):
    """Rows of a tile, with masks between their words."""
    bench = KeepingBench(_CONFIG, latency=latency, stall=stall)

    async def testbench(ctx):
        for local_rows, row_start, row_limit in ((9, 0, 20), (30, 3, 17), (30, 28, 17), (5, 8, 4)):
            count = min(max(local_rows - row_start, 0), row_limit)
            bench.array[0, :count] = bench.rng.integers(-99, 99, (count, _CONFIG.lanes))
            await bench.execute(
                ctx, Opcode.DRAIN, local_rows=local_rows, row_start=row_start,
                row_limit=row_limit, source=DrainSource.ARRAY, address=50, mask_address=60,
                mask_write=1, bypass=bypass, **_BASES)
            for target, base in zip(Bypass, _BASES.values(), strict=True):
                expected = {base + row: (row_start + row, int(row == count - 1),
                                         int(bench.channels[0][50 + row]))
                            for row in range(count)} if bypass >> target & 1 else {}
                assert bench.stored[target] == expected

    bench.run(testbench)


@pytest.mark.parametrize("train", [0, 1])
def test_loss(train):
    bench = KeepingBench(_CONFIG, latency=5, stall=0.2)
    rows = 11

    async def testbench(ctx):
        bench.channels[0][:rows] = [
            pack(bench.rng.integers(-99, 99, 4), 16) for _ in range(rows)]
        bench.channels[1][100:100 + rows] = [pack([1 | 1 << 13] * 4, 16)] * rows
        await bench.execute(
            ctx, Opcode.LOSS, local_rows=rows, address=0, stride=rows, panels=1, classes=4,
            info=100, destination=200, shift=18, aux_shift=10, train=train,
            bypass=1 << Bypass.SEND, **_BASES)
        assert bench.stored[Bypass.SEND] == ({
            5 + row: (row, int(row == rows - 1), int(bench.channels[1][200 + row]))
            for row in range(rows)} if train else {})
        assert not bench.stored[Bypass.LEFT] and not bench.stored[Bypass.RIGHT]

    bench.run(testbench)
