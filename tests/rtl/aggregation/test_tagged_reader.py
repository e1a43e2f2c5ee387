# SPDX-License-Identifier: BSD-2-Clause
"""TaggedReader: every word comes with its burst's tag."""

import numpy as np

from hypercast.rtl.aggregation.tagged_reader import TaggedReader
from hypercast.rtl.config import Config
from tests.bench import MemoryModel, put, run


def test_words_are_tagged():
    config = Config(lanes=2, channel_words=256, read_buffer=4)
    rng = np.random.default_rng(9)
    dut = TaggedReader(config, 5)
    memory = MemoryModel(config, rng, latency=6, stall=0.2)
    memory.channels[1][:] = [int(word) for word in rng.integers(0, 1 << 32, size=256)]
    requests = [{"tag": int(rng.integers(32)), "address": int(rng.integers(240)),
                 "length": int(rng.integers(1, 17))} for _ in range(60)]
    expected = [(request["tag"], memory.channels[1][request["address"] + index])
                for request in requests for index in range(request["length"])]

    async def send(ctx):
        await put(ctx, dut.request, requests, rng, idle=0.2)

    async def receive(ctx):
        received = []
        while len(received) < len(expected):
            _, _, valid, word = await ctx.tick().sample(dut.o.valid, dut.o.payload)
            if valid:
                received.append((word.tag, word.word))
        assert received == expected

    run(dut, send, receive, background=[lambda ctx: memory.serve_read(ctx, dut.port)])
