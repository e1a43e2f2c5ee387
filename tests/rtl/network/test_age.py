"""Epochs, ages and the priorities that follow from them."""

import random

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.network.age import EpochCounter, FlitAge, priority
from tests.bench import run


class Priority(wiring.Component):
    """``priority`` with ports."""

    age: In(3)
    last: In(1)
    priority: Out(6)

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.priority.eq(priority(self.age, self.last))
        return m


def test_epochs_are_32_cycles_and_wrap():
    dut = EpochCounter()

    async def bench(ctx):
        for cycle in range(1200):
            assert ctx.get(dut.epoch) == cycle // 32 % 32
            await ctx.tick()
        ctx.set(dut.clear, 1)
        await ctx.tick()
        ctx.set(dut.clear, 0)
        for cycle in range(70):
            assert ctx.get(dut.epoch) == cycle // 32
            await ctx.tick()

    run(dut, bench)


def test_age_saturates_and_is_a_cycle_late():
    dut = FlitAge()
    rng = random.Random(1)

    async def bench(ctx):
        for _ in range(300):
            injected, epoch, valid = rng.randrange(32), rng.randrange(32), rng.random() < 0.8
            ctx.set(dut.injected, injected)
            ctx.set(dut.epoch, epoch)
            ctx.set(dut.valid, valid)
            await ctx.tick()
            assert ctx.get(dut.age) == (1 << min((epoch - injected) % 32, 3) * valid) - 1

    run(dut, bench)


def test_priorities():
    dut = Priority()

    async def bench(ctx):
        for age in range(4):
            for last in range(2):
                ctx.set(dut.age, (1 << age) - 1)
                ctx.set(dut.last, last)
                await ctx.delay(1e-9)
                assert ctx.get(dut.priority) == (1 << min(2 * age + last, 6)) - 1

    run(dut, bench)
