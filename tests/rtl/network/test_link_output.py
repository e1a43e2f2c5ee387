# SPDX-License-Identifier: BSD-2-Clause
"""The sending end of a link never sends without a credit and uses every credit it has."""

import random
from collections import deque

import pytest
from amaranth.hdl import Value

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import flit
from hypercast.rtl.network import routing
from hypercast.rtl.network.link_output import LinkOutput
from tests.bench import run

#: Planes of five requesting buffers.
PLANES = (0, 0, 1, 1, 1)


def moved(layout, one, dimension):
    """A flit as the neighbour across ``dimension`` gets it."""
    fields = {name: getattr(one, name) for name in ("plane", "kind", "digit", "index", "payload")}
    mine = routing.first_hops(one.plane, 3)[dimension]
    return layout.const({**fields,
                         "destinations": routing.hop(one.destinations & mine, dimension, 3),
                         "source": one.source ^ 1 << dimension})


@pytest.mark.parametrize("dimension", range(3))
@pytest.mark.parametrize("depth", [2, 4])
def test_flits_and_credits(depth, dimension):
    config = Config(dimensions=3, planes=2, lanes=2, buffer_depth=depth)
    dut = LinkOutput(config, dimension, PLANES)
    layout = flit(config)
    rng = random.Random(depth)

    async def bench(ctx):
        credits, room = [depth, depth], [depth, depth]
        serial, granted, on_link, parity = 0, None, None, 0
        urgent = None  # in the cycle before
        while serial < 400:
            # The receiver gives a credit back after an arbitrary time.
            returned = [plane for plane in range(2) if room[plane] < depth and rng.random() < 0.3]
            ctx.set(dut.link.credit, sum(1 << plane for plane in returned))
            assert ctx.get(dut.link.valid) == (on_link is not None)
            if on_link is not None:
                assert ctx.get(dut.link.flit) == on_link
            # The parity is that of the cycle before.
            assert ctx.get(dut.link.parity) == parity
            bits = ctx.get(Value.cast(dut.link.flit))
            parity = (bits.bit_count() + ctx.get(dut.link.valid)) & 1
            # The flit of a grant comes a cycle after it, and goes to the link.
            offered = [layout.const({
                "destinations": rng.getrandbits(8), "source": rng.getrandbits(3), "plane": plane,
                "kind": rng.randrange(3), "digit": rng.getrandbits(3), "index": serial + index,
                "payload": rng.getrandbits(32)}) for index, plane in enumerate(PLANES)]
            for index, one in enumerate(offered):
                ctx.set(dut.flits[index], one)
            on_link = None if granted is None else moved(layout, offered[granted], dimension)
            requests = rng.getrandbits(5)
            ctx.set(dut.requests, requests)
            for plane in returned:
                credits[plane] += 1
                room[plane] += 1
            able = sum(1 << index for index, plane in enumerate(PLANES)
                       if requests >> index & 1 and credits[plane])
            grants = ctx.get(dut.grants)
            assert grants & ~able == 0 and grants & grants - 1 == 0
            assert (grants != 0) == (able != 0), "a link idles though it could send"
            assert urgent is None or grants == 1 << urgent or not able >> urgent & 1, (
                "not the most urgent")
            urgent = rng.randrange(5)
            for index, age in enumerate(dut.ages):
                ctx.set(age, index == urgent)
            ctx.set(dut.favoured, rng.getrandbits(5))
            await ctx.tick()
            granted = grants.bit_length() - 1 if grants else None
            if grants:
                credits[PLANES[granted]] -= 1
                room[PLANES[granted]] -= 1
                serial += 1

    run(dut, bench)


@pytest.mark.parametrize("trip", [3, 4, 5, 6, 7])
def test_every_request_has_its_share(trip):
    """Buffers that always have a flit, in planes that are short of credits: none is starved."""
    config = Config(dimensions=3, planes=2, lanes=2, buffer_depth=2)
    dut = LinkOutput(config, 0, PLANES)
    granted = [0] * len(PLANES)
    returning = deque([0] * (trip - 1))
    cycles = 600

    async def bench(ctx):
        for index, plane in enumerate(PLANES):
            ctx.set(dut.flits[index], {"destinations": 0b10, "plane": plane})
        ctx.set(dut.requests, 0b11111)
        for _ in range(cycles):
            ctx.set(dut.link.credit, returning.popleft())
            grants = ctx.get(dut.grants)
            for index in range(len(PLANES)):
                granted[index] += grants >> index & 1
            returning.append(sum(1 << plane for plane in range(2)
                                 if any(grants >> index & 1 for index, own in enumerate(PLANES)
                                        if own == plane)))
            await ctx.tick()

    run(dut, bench)
    by_plane = [[count for count, own in zip(granted, PLANES, strict=True) if own == plane]
                for plane in range(2)]
    assert all(max(counts) - min(counts) <= 1 for counts in by_plane), granted
    # A plane sends two flits per trip at most, the link one per cycle.
    assert sum(granted) >= cycles * min(1, 4 / trip) - 2, granted
    if trip == 3:  # plane 1 could send all its buffers' shares
        assert max(granted) - min(granted) <= 1, granted
