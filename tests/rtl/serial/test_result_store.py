# SPDX-License-Identifier: BSD-2-Clause
"""ResultStore: frames of what was written, and of headers alone."""

import numpy as np
import pytest

from hypercast.rtl.serial.protocol import FrameKind, header_word
from hypercast.rtl.serial.result_store import ResultStore
from tests.bench import get, run
from tests.rtl.flips import count_cycles


@pytest.mark.parametrize("stall", [0.0, 0.6])
def test_results(stall):
    rng = np.random.default_rng(2)
    dut = ResultStore()
    results = {sequence: rng.integers(1 << 32, size=size).tolist()
               for sequence, size in ((7, 254), (8, 1), (9, 20), (10, 2))}  # one in each place

    taken = []
    replies = (8, 7, 10, 10, None, 9, 9, 8)

    async def bench(ctx):
        for sequence, words in results.items():
            for index, word in enumerate(words):
                ctx.set(dut.sequence, sequence)
                ctx.set(dut.index, index)
                ctx.set(dut.data, word)
                ctx.set(dut.write, 1)
                await ctx.tick()
        ctx.set(dut.write, 0)

        for sequence in replies:
            expected = [header_word(FrameKind.RESULT, sequence or 33, 5),
                        *results.get(sequence, [])]
            header = {"kind": FrameKind.RESULT, "sequence": sequence or 33, "session": 5}
            reply = {"header": header, "length": len(expected) - 1}
            ctx.set(dut.reply.payload, reply)
            ctx.set(dut.reply.valid, 1)
            words = await get(ctx, dut.o, len(expected) - 1, rng, stall)
            assert not ctx.get(dut.reply.ready)
            ctx.set(dut.o.ready, 1)
            _, _, valid, word, ready = await ctx.tick().sample(
                dut.o.valid, dut.o.payload, dut.reply.ready)
            assert valid and ready
            words.append(word)
            ctx.set(dut.o.ready, 0)
            ctx.set(dut.reply.valid, 0)
            assert [word.data for word in words] == expected
            assert [word.last for word in words] == [0] * (len(expected) - 1) + [1]
            ctx.set(dut.o.ready, int(rng.integers(2)))  # it takes nothing that is not offered
            await ctx.tick().repeat(3)

    run(dut, bench, background=[count_cycles(dut.reply.valid & dut.reply.ready, taken)])
    assert len(taken) == len(replies)
