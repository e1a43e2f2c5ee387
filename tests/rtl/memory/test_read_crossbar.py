# SPDX-License-Identifier: BSD-2-Clause
"""ReadCrossbar: every client gets its words in its order, fairly, at full rate."""

from collections import deque

import numpy as np
import pytest

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import BURST
from hypercast.rtl.memory.read_crossbar import ReadCrossbar
from tests.bench import get, put, run

CONFIGS = [
    Config(lanes=2, element_width=8, channel_words=256),
    Config(lanes=16, element_width=16, channel_words=1024),
]


class _Channels:
    """The memory side of a crossbar: words that tell channel and address, after a latency."""

    def __init__(self, dut, rng, latencies, stall):
        self._dut = dut
        self._rng = rng
        self._latencies = latencies
        self._stall = stall

    @staticmethod
    def word(channel, address):
        return channel << 24 | address

    def _ready(self):
        return self._rng.random() >= self._stall

    async def serve(self, ctx, channel):
        """Serve one channel, forever."""
        request, words = self._dut.read_request[channel], self._dut.read_data[channel]
        queue = deque()
        cycle = 0
        offered = False
        while True:
            ready = self._ready()
            offered = bool(queue) and queue[0][0] <= cycle and (offered or self._ready())
            ctx.set(request.ready, ready)
            ctx.set(words.valid, offered)
            ctx.set(words.payload, queue[0][1] if offered else 0)
            _, _, valid, burst, taken, counted = await ctx.tick().sample(
                request.valid, request.payload, words.ready, self._dut.read_words[channel])
            assert counted == (offered and taken)
            if counted:
                queue.popleft()
                offered = False
            cycle += 1
            if valid and ready:
                due = cycle + self._latencies[channel] - 1
                queue.extend((due, self.word(channel, burst.address + index))
                             for index in range(burst.length))


def _read(config, requests, *, latencies=(1, 1), memory_stall=0.0, idle=0.0, stall=0.0,
          cycles=20_000, channels=None):
    """Let client ``k`` ask for ``requests[k]`` and check the words it gets."""
    dut = ReadCrossbar(config, channels or [(0, 1)] * len(requests))
    rng = np.random.default_rng(latencies[0] + len(requests))
    memory = _Channels(dut, rng, latencies, memory_stall)

    def sender(index):
        return lambda ctx: put(ctx, dut.clients[index].request, requests[index], rng, idle)

    def receiver(index):
        expected = [memory.word(request["channel"], request["address"] + offset)
                    for request in requests[index] for offset in range(request["length"])]

        async def receive(ctx):
            assert await get(
                ctx, dut.clients[index].data, len(expected), rng, stall) == expected
        return receive

    run(dut, *map(sender, range(len(requests))), *map(receiver, range(len(requests))),
        background=[lambda ctx: memory.serve(ctx, 0), lambda ctx: memory.serve(ctx, 1)],
        cycles=cycles)


def _requests(config, rng, number, channel=None, length=None):
    return [{"channel": int(rng.integers(2)) if channel is None else channel,
             "address": int(rng.integers(config.channel_words - BURST)),
             "length": length or int(rng.integers(1, BURST + 1))} for _ in range(number)]


@pytest.mark.grid
@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.word_width}bit")
@pytest.mark.parametrize("clients", [1, 2, 5])
@pytest.mark.parametrize(("latency", "memory_stall", "idle", "stall"), [
    (1, 0.0, 0.0, 0.0), (3, 0.3, 0.3, 0.4), (30, 0.2, 0.0, 0.0)])
def test_random_bursts(config, clients, latency, memory_stall, idle, stall):
    rng = np.random.default_rng(clients)
    requests = [_requests(config, rng, 25) for _ in range(clients)]
    _read(config, requests, latencies=(latency, latency), memory_stall=memory_stall, idle=idle,
          stall=stall)


@pytest.mark.parametrize(("latency", "length", "hidden"), [
    (1, 1, 1), (14, 1, 1), (100, 8, 1), (200, 16, 1), (56, 1, 56), (100, 2, 100)])
def test_both_channels_at_full_rate(latency, length, hidden):
    """16 bursts cover the latency, or as many as ``memory_latency`` takes; two clients share."""
    config = CONFIGS[1].replace(memory_latency=hidden)
    rng = np.random.default_rng(0)
    number = 300 // length
    requests = [_requests(config, rng, number, channel, length) for channel in (0, 0, 1, 1)]
    _read(config, requests, latencies=(latency, latency),
          cycles=2 * number * length + latency + 8)


def test_slow_channel_is_not_overtaken_by_the_other():
    """However many bursts are under way when the client changes to the fast channel."""
    config = CONFIGS[0]
    rng = np.random.default_rng(0)
    for number in range(1, 24):
        requests = _requests(config, rng, number, 0, 1) + _requests(config, rng, 2, 1, 1)
        _read(config, [requests], latencies=(40, 1))


def test_clients_share_a_channel_by_turns():
    """With all clients asking, each finishes within one round of the others."""
    config = CONFIGS[0]
    dut = ReadCrossbar(config, [(0, 1)] * 3)
    rng = np.random.default_rng(0)
    channels = _Channels(dut, rng, (5, 5), 0.0)
    order = []

    def client(index):
        async def bench(ctx):
            await put(ctx, dut.clients[index].request, _requests(config, rng, 20, 0, 4))

        async def watch(ctx):
            ctx.set(dut.clients[index].data.ready, 1)
            for _ in range(80):
                await ctx.tick().until(dut.clients[index].data.valid)
                order.append(index)
        return bench, watch

    run(dut, *(function for index in range(3) for function in client(index)),
        background=[lambda ctx: channels.serve(ctx, 0)])
    assert order == [index for _ in range(20) for index in range(3) for _ in range(4)]


def test_clients_of_one_channel_beside_those_of_both():
    config = CONFIGS[0]
    rng = np.random.default_rng(0)
    own = [(0, 1), (1,), (0,), (0, 1), (1,)]
    requests = [_requests(config, rng, 25, channels[0] if len(channels) == 1 else None)
                for channels in own]
    _read(config, requests, latencies=(7, 3), memory_stall=0.2, idle=0.2, stall=0.2, channels=own)


@pytest.mark.parametrize(("channels", "missing"), [([], 0), ([(1,)], 0), ([(0,), (0,)], 1)])
def test_a_channel_without_clients_is_refused(channels, missing):
    with pytest.raises(ValueError, match=f"channel {missing}"):
        ReadCrossbar(CONFIGS[0], channels)


@pytest.mark.parametrize(("latency", "bursts"), [
    (2, 16), (8, 16), (9, 17), (24, 32), (56, 64), (500, 64)])
def test_bursts_under_way(latency, bursts):
    """As many as hide the latency, and no more, are asked for while no word comes."""
    dut = ReadCrossbar(CONFIGS[0].replace(memory_latency=latency), [(0,), (1,)])
    asked = []

    async def program(ctx):
        ctx.set(dut.clients[0].request.valid, 1)
        ctx.set(dut.clients[0].request.p.length, 2)
        ctx.set(dut.read_request[0].ready, 1)
        for _ in range(2 * bursts + 10):
            _, _, valid = await ctx.tick().sample(dut.read_request[0].valid)
            asked.append(valid)
        assert sum(asked) == bursts

    run(dut, program)
