# SPDX-License-Identifier: BSD-2-Clause
"""WriteCrossbar: every word to its channel, in each client's order; idle only when all is done."""

import numpy as np
import pytest

from hypercast.rtl.config import Config
from hypercast.rtl.memory.write_crossbar import WriteCrossbar
from tests.bench import put, run

CONFIGS = [
    Config(lanes=2, element_width=8, channel_words=256),
    Config(lanes=16, element_width=16, channel_words=1024),
]


def _writes(config, clients, number, rng, channels=(0, 1)):
    """Per client, writes whose data are the client and a running number."""
    return [[{"channel": int(rng.choice(channels)),
              "address": int(rng.integers(config.channel_words)), "data": client << 16 | index}
             for index in range(number)] for client in range(clients)]


def _write(config, writes, *, idle=0.0, stall=0.0, cycles=10_000):
    """Send ``writes[k]`` from client ``k``; check what arrives."""
    dut = WriteCrossbar(config, len(writes))
    rng = np.random.default_rng(len(writes))
    total = sum(map(len, writes))
    arrived = [[], []]
    sent = 0

    async def watch(ctx):
        """Both channels, and what the clients see."""
        nonlocal sent
        hidden = 0  # of the channels: accepted but not visible
        while sum(map(len, arrived)) < total or hidden:
            ready = [int(rng.random() >= stall) for _ in range(2)]
            hidden_idle = not hidden
            for channel in range(2):
                ctx.set(dut.write[channel].ready, ready[channel])
            ctx.set(dut.channel_idle, 0b11 if hidden_idle else int(rng.integers(3)))
            signals = []
            for channel in range(2):
                write = dut.write[channel]
                signals += [write.valid, write.payload]
            for client in dut.clients:
                signals += [client.request.valid & client.request.ready, client.idle]
            _, _, written, *values = await ctx.tick().sample(dut.written, *signals)
            for client_idle in values[5::2]:
                under_way = sent - sum(map(len, arrived))
                assert client_idle == (hidden_idle and not under_way)
            if hidden and rng.random() < 0.3:
                hidden = 0
            for channel in range(2):
                valid, payload = values[2 * channel], values[2 * channel + 1]
                assert written >> channel & 1 == (valid and ready[channel])
                if valid and ready[channel]:
                    arrived[channel].append((payload.address, payload.data))
                    hidden += 1
            sent += sum(values[4::2])

    run(dut, watch, *(
        lambda ctx, client=client, own=own: put(ctx, client.request, own, rng, idle)
        for client, own in zip(dut.clients, writes, strict=True)), cycles=cycles)
    for client, own in enumerate(writes):
        for channel in range(2):
            assert [(address, word) for address, word in arrived[channel]
                    if word >> 16 == client] == [
                        (write["address"], write["data"]) for write in own
                        if write["channel"] == channel]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.word_width}bit")
@pytest.mark.parametrize("clients", [1, 2, 4])
@pytest.mark.parametrize(("idle", "stall"), [(0.0, 0.0), (0.5, 0.0), (0.2, 0.5)])
def test_random_writes(config, clients, idle, stall):
    rng = np.random.default_rng(clients)
    _write(config, _writes(config, clients, 60, rng), idle=idle, stall=stall)


def test_both_channels_at_full_rate():
    config = CONFIGS[1]
    rng = np.random.default_rng(0)
    writes = [_writes(config, 1, 200, rng, channels=(channel,))[0] for channel in range(2)]
    for write in writes[1]:
        write["data"] |= 1 << 16
    _write(config, writes, cycles=230)


def test_no_clients_are_refused():
    with pytest.raises(ValueError, match="not 0"):
        WriteCrossbar(CONFIGS[0], 0)
