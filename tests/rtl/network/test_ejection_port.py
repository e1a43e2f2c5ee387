# SPDX-License-Identifier: BSD-2-Clause
"""An ejection port obeys the stream rules and serves its requesters in turn."""

import random

import pytest

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import flit
from hypercast.rtl.network.ejection_port import EjectionPort
from tests.bench import get, run

CONFIG = Config(dimensions=2, planes=2, lanes=2)


@pytest.mark.parametrize("stall", [0.0, 0.5])
def test_every_granted_flit_comes_out_once_in_order(stall):
    dut = EjectionPort(CONFIG, 3)
    layout = flit(CONFIG)
    rng = random.Random(7)
    granted, received = [], []

    async def requesters(ctx):
        serial = [0, 0, 0]
        while len(granted) < 200:
            requests = rng.getrandbits(3)
            ctx.set(dut.requests, requests)
            _, _, grants = await ctx.tick().sample(dut.grants)
            assert grants & ~requests == 0 and grants & grants - 1 == 0
            for index in range(3):
                ctx.set(dut.flits[index], layout.const(
                    {"destinations": 0b1011, "source": index, "payload": serial[index]}))
                if grants >> index & 1:
                    granted.append((index, serial[index]))
                    serial[index] += 1
        ctx.set(dut.requests, 0)

    async def receiver(ctx):
        received.extend(await get(ctx, dut.eject, 200, rng, stall))

    run(dut, requesters, receiver)
    assert [(one.source, one.payload) for one in received] == granted
    assert all(one.destinations == 1 for one in received)


def test_full_rate_shared_evenly():
    dut = EjectionPort(CONFIG, 3)

    async def bench(ctx):
        ctx.set(dut.requests, 0b111)
        for index in range(3):
            ctx.set(dut.flits[index].source, index)
        await ctx.tick().repeat(2)
        assert [one.source for one in await get(ctx, dut.eject, 30)] == [0, 1, 2] * 10

    run(dut, bench, cycles=33)


@pytest.mark.parametrize("favoured", range(3))
def test_a_favour_counts_among_flits_of_one_age(favoured):
    dut = EjectionPort(CONFIG, 3)

    async def bench(ctx):
        ctx.set(dut.favoured, 1 << favoured)
        await ctx.tick()
        ctx.set(dut.requests, 0b111)
        assert ctx.get(dut.grants) == 1 << favoured
        ctx.set(dut.ages[favoured - 1], 1)  # older
        await ctx.tick()
        assert ctx.get(dut.grants) == 1 << (favoured - 1) % 3

    run(dut, bench, cycles=10)
