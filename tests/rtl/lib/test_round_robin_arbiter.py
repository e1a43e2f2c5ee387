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
    select: In(3)
    values: In(8).array(3)
    o: Out(8)

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.o.eq(one_hot_mux(self.select, self.values))
        return m


def test_one_hot_mux():
    dut = Selector()

    async def bench(ctx):
        for index, value in enumerate((0x12, 0xAB, 0xFF)):
            ctx.set(dut.values[index], value)
        for select, expected in ((0, 0), (1, 0x12), (2, 0xAB), (4, 0xFF)):
            ctx.set(dut.select, select)
            assert ctx.get(dut.o) == expected

    run(dut, bench)
