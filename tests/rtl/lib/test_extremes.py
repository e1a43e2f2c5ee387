# SPDX-License-Identifier: BSD-2-Clause
"""Minimum, maximum and rows of tiles, of values about each other and at the ends."""

import random

from amaranth.hdl import Module, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.lib.extremes import maximum, minimum, tile_rows
from tests.bench import run


class _Extremes(wiring.Component):
    one: In(signed(7))
    other: In(signed(9))
    rows: In(20)
    start: In(20)
    limit: In(15)
    smaller: Out(signed(9))
    larger: Out(signed(9))
    present: Out(20)

    def elaborate(self, platform):
        m = Module()
        m.d.comb += [
            self.smaller.eq(minimum(self.one, self.other)),
            self.larger.eq(maximum(self.one, self.other)),
            self.present.eq(tile_rows(self.rows, self.start, self.limit)),
        ]
        return m


def test_extremes():
    dut, rng = _Extremes(), random.Random(1)

    async def bench(ctx):
        for _ in range(300):
            one = rng.choice([-64, 63, 0, rng.randrange(-64, 64)])
            other = rng.choice([-256, 255, one, one + 1, one - 1, rng.randrange(-256, 256)])
            ctx.set(dut.one, one)
            ctx.set(dut.other, other)
            assert ctx.get(dut.smaller) == min(one, other)
            assert ctx.get(dut.larger) == max(one, other)

    run(dut, bench)


def test_rows_of_tiles():
    dut, rng = _Extremes(), random.Random(2)

    async def bench(ctx):
        most = (1 << 20) - 1
        for _ in range(300):
            rows = rng.choice([0, 1, most, rng.randrange(most)])
            start = min(max(rng.choice([0, most, rows + rng.randrange(-9, 9)]), 0), most)
            limit = rng.choice([0, 1, 8, 32767])
            for name, value in (("rows", rows), ("start", start), ("limit", limit)):
                ctx.set(getattr(dut, name), value)
            assert ctx.get(dut.present) == len(range(rows)[start:start + limit])

    run(dut, bench)
