# SPDX-License-Identifier: BSD-2-Clause
"""An input buffer offers each flit to all its outputs and keeps it until the last has served it."""

import random

import pytest

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import flit
from hypercast.rtl.network import routing
from hypercast.rtl.network.input_buffer import InputBuffer
from tests.bench import run


def expected_requests(destinations, plane, arrival, dimensions):
    local, branches = routing.split(destinations, plane, arrival, dimensions)
    return local | sum((branch != 0) << 1 + index for index, branch in enumerate(branches.values()))


@pytest.mark.grid
@pytest.mark.parametrize("depth", [2, 3, 4])
@pytest.mark.parametrize(("plane", "arrival"), [(0, None), (2, None), (1, 1), (1, 0), (3, 1)])
def test_flits_are_offered_until_served(plane, arrival, depth):
    config = Config(dimensions=3, planes=4, lanes=2, buffer_depth=depth)
    dut = InputBuffer(config, plane, arrival)
    layout = flit(config)
    rng = random.Random(depth)
    possible = 1 | sum(
        1 << destination for destination in range(8)
        if set(bit for bit in range(3) if destination >> bit & 1) <= set(dut.outputs))

    async def bench(ctx):
        queue, served, serial, seen = [], 0, 0, 0
        before, age = None, 0  # head and its age in the cycle before
        favours = 0
        while seen < 300:
            frame = rng.randrange(32)
            ctx.set(dut.frame, frame)
            # What is shown now.
            assert ctx.get(dut.room) == (len(queue) < depth)
            waiting = (expected_requests(queue[0].destinations, plane, arrival, 3) & ~served
                       if queue else 0)
            assert ctx.get(dut.requests) == waiting
            head = before if before is not None else (queue[0] if queue else None)
            assert head is None or ctx.get(dut.head) == head
            assert ctx.get(dut.age) == (1 << age) - 1
            last = waiting & waiting - 1 == 0 and len(queue) > 1 and age < 3
            assert ctx.get(dut.favoured) == (waiting if last else 0)
            favours += last
            before, age = None, 0
            if queue:
                before = queue[0]
                age = min((frame - head.frame) % 32, 3)
            # What the outputs and the writer do about it.
            serving = waiting & rng.getrandbits(4)
            ctx.set(dut.served, serving)
            write = len(queue) < depth and rng.random() < 0.6
            new = layout.const({"destinations": rng.getrandbits(8) & possible, "plane": plane,
                                "frame": rng.randrange(32),
                                "payload": serial, "index": serial})
            ctx.set(dut.write, write)
            ctx.set(dut.flit, new)
            leaves = bool(queue) and waiting == serving
            assert ctx.get(dut.leaves) == leaves
            await ctx.tick()
            served |= serving
            if leaves:
                queue.pop(0)
                served, seen = 0, seen + 1
            if write:
                queue.append(new)
                serial += 1
        assert favours > 0

    run(dut, bench)
