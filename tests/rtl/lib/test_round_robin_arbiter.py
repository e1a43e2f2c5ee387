# SPDX-License-Identifier: BSD-2-Clause
"""The arbiter grants one request at a time and starves nobody."""

import random

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.lib.round_robin_arbiter import RoundRobinArbiter, one_hot_mux
from tests.bench import run


def test_count_is_checked():
    with pytest.raises(ValueError, match="at least 1, not 0"):
        RoundRobinArbiter(0)


@pytest.mark.parametrize("count", [1, 2, 5, 20])
def test_grants_follow_the_model(count):
    dut = RoundRobinArbiter(count)
    rng = random.Random(count)

    async def bench(ctx):
        last = count - 1
        for _ in range(500):
            requests, enable = rng.getrandbits(count) & rng.getrandbits(count), rng.random() < 0.8
            ctx.set(dut.requests, requests)
            ctx.set(dut.enable, enable)
            order = [(last + 1 + step) % count for step in range(count)]
            wanted = [index for index in order if requests >> index & 1]
            assert ctx.get(dut.grants) == (1 << wanted[0] if wanted and enable else 0)
            if wanted and enable:
                last = wanted[0]
            await ctx.tick()

    run(dut, bench)


class Selector(wiring.Component):
    def __init__(self, count, width):
        super().__init__({
            "select": In(count), "values": In(width).array(count), "o": Out(width)})

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.o.eq(one_hot_mux(self.select, self.values))
        return m


@pytest.mark.parametrize("width", [8, 128])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 10, 20])
def test_one_hot_mux(count, width):
    dut = Selector(count, width)

    async def bench(ctx):
        values = [0x12, 0xAB, 0xFF, *range(count)][:count]
        for index, value in enumerate(values):
            ctx.set(dut.values[index], value)
        for index, value in enumerate(values):
            ctx.set(dut.select, 1 << index)
            assert ctx.get(dut.o) == value

    run(dut, bench)
