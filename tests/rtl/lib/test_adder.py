# SPDX-License-Identifier: BSD-2-Clause
"""sum_of against integers."""

import pytest
from amaranth.hdl import Module, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.lib.adder import sum_of
from tests.bench import run


class Sum(wiring.Component):
    def __init__(self, width):
        self._width = width
        super().__init__({"a": In(signed(4)), "b": In(signed(5)), "o": Out(signed(width))})

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.o.eq(sum_of(self.a, self.b, self._width))
        return m


@pytest.mark.parametrize("width", [5, 6, 9])
def test_all_sums(width):
    dut = Sum(width)
    half = 1 << width - 1

    async def bench(ctx):
        for a in range(-8, 8):
            for b in range(-16, 16):
                ctx.set(dut.a, a)
                ctx.set(dut.b, b)
                assert ctx.get(dut.o) == (a + b + half) % (2 * half) - half

    run(dut, bench)
