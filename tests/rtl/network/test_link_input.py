# SPDX-License-Identifier: BSD-2-Clause
"""The receiving end of a link: planes, credits and faults."""

import random

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import flit
from hypercast.rtl.network.link_input import LinkInput
from tests.bench import run


def test_planes_credits_and_faults():
    config = Config(dimensions=2, planes=4, lanes=2)
    dut = LinkInput(config)
    layout = flit(config)
    rng = random.Random(4)

    async def bench(ctx):
        parity, due, credit = 0, [False, False], 0
        for _ in range(400):
            one = layout.const({"plane": rng.randrange(4), "payload": rng.getrandbits(32)})
            valid, wrong = rng.random() < 0.5, rng.random() < 0.1
            leaves, room = rng.getrandbits(4), rng.getrandbits(4)
            ctx.set(dut.link.valid, valid)
            ctx.set(dut.link.flit, one)
            ctx.set(dut.link.parity, parity)
            ctx.set(dut.room, room)
            ctx.set(dut.leaves, leaves)
            assert ctx.get(dut.flit) == one
            assert ctx.get(dut.write) == valid << one.plane
            assert ctx.get(dut.link.credit) == credit
            assert ctx.get(dut.fault) == due.pop(0)
            due.append(wrong or (valid and not room >> one.plane & 1))
            parity = (one.as_bits().bit_count() + valid + wrong) & 1
            credit = leaves
            await ctx.tick()

    run(dut, bench)
