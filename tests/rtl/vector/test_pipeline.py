# SPDX-License-Identifier: BSD-2-Clause
"""Tests of the pieces that pipelines share."""

import random
from operator import add

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.vector.pipeline import bit_length, popcount, tree, tree_latency
from tests.bench import run


class _Bits(wiring.Component):
    """Looks at the bits of a number."""

    def __init__(self, width):
        super().__init__({"i": In(width), "length": Out(8), "ones": Out(8)})

    def elaborate(self, platform):
        m = Module()
        m.d.comb += [self.length.eq(bit_length(self.i)), self.ones.eq(popcount(self.i))]
        return m


class _Sum(wiring.Component):
    """Adds up bytes."""

    def __init__(self, count):
        super().__init__({"i": In(8).array(count), "o": Out(16)})

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.o.eq(tree(m, self.i, add))
        m.d.sync += Signal().eq(1)  # a domain, even for a single value
        return m


@pytest.mark.parametrize("width", [1, 2, 26, 48])
def test_bit_length_and_popcount(width):
    rng = random.Random(width)
    dut = _Bits(width)

    async def bench(ctx):
        values = [0, *(1 << bit for bit in range(width)),
                  *(rng.getrandbits(width) >> rng.randrange(width) for _ in range(50))]
        for value in values:
            ctx.set(dut.i, value)
            assert ctx.get(dut.length) == value.bit_length()
            assert ctx.get(dut.ones) == value.bit_count()

    run(dut, bench)


@pytest.mark.parametrize("count", [1, 2, 4, 8, 16])
def test_tree(count):
    rng = random.Random(count)
    dut = _Sum(count)
    inputs = [[rng.randrange(256) for _ in range(count)] for _ in range(20)]

    async def bench(ctx):
        for step in range(len(inputs) + tree_latency(count)):
            for port, value in zip(dut.i, inputs[min(step, len(inputs) - 1)], strict=True):
                ctx.set(port, value)
            _, _, total = await ctx.tick().sample(dut.o)
            if step >= tree_latency(count):
                assert total == sum(inputs[step - tree_latency(count)])

    run(dut, bench)
