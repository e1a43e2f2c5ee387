# SPDX-License-Identifier: BSD-2-Clause
"""An AXI4 manager of the bulk port, with random delays on every channel."""

from collections import deque

from amaranth.hdl import Value

__all__ = ["BulkManager"]

_BEAT = 16


class BulkManager:
    """Drives ``BulkAxi``, or its halves; bursts of either direction end in order.

    Fails if an offer is withdrawn or changes, if a response has another burst's ID, or if an error
    comes with data.

    Parameters
    ----------
    write, read : interface or None
        The subordinate's write and read channels.
    rng : numpy.random.Generator
        Source of the delays.
    delay : float
        Probability, per cycle and channel, that nothing is offered or taken.

    Attributes
    ----------
    written : deque of int
        ``bresp`` of each write burst that has ended.
    read : deque of tuple
        ``rresp`` of every beat, and the bytes, of each read burst that has ended.
    drivers : list of functions
        Background testbenches for ``tests.bench.run``.
    """

    def __init__(self, write, read, rng, delay):
        self._rng, self._delay = rng, delay
        self._queues = {"aw": deque(), "w": deque(), "ar": deque()}
        self._ids = {"b": deque(), "r": deque()}
        self.written, self.read = deque(), deque()
        self.drivers = []
        if write is not None:
            self.drivers += [
                lambda ctx: self._send(ctx, write, "aw", ("id", "addr", "len", "size", "burst")),
                lambda ctx: self._send(ctx, write, "w", ("data", "strb", "last")),
                lambda ctx: self._take_writes(ctx, write)]
        if read is not None:
            self.drivers += [
                lambda ctx: self._send(ctx, read, "ar", ("id", "addr", "len", "size", "burst")),
                lambda ctx: self._take_reads(ctx, read)]

    def _pauses(self):
        return self._rng.random() < self._delay

    async def _send(self, ctx, axi, channel, names):
        valid, ready = (getattr(axi, channel + end) for end in ("valid", "ready"))
        while True:
            while not self._queues[channel] or self._pauses():
                await ctx.tick()
            for name, value in zip(names, self._queues[channel].popleft(), strict=True):
                ctx.set(getattr(axi, channel + name), value)
            ctx.set(valid, 1)
            taken = False
            while not taken:
                _, _, taken = await ctx.tick().sample(ready)
            ctx.set(valid, 0)

    async def _take(self, ctx, axi, channel, names):
        """Each transfer of a channel, as a tuple."""
        valid, ready = (getattr(axi, channel + end) for end in ("valid", "ready"))
        held = None
        while True:
            takes = not self._pauses()
            ctx.set(ready, takes)
            _, _, offered, *payload = await ctx.tick().sample(
                valid, *(Value.cast(getattr(axi, channel + name)) for name in names))
            assert held is None or (offered and payload == held), f"{channel} not held"
            held = payload if offered and not takes else None
            if offered and takes:
                yield payload

    async def _take_writes(self, ctx, axi):
        async for identity, response in self._take(ctx, axi, "b", ("id", "resp")):
            assert identity == self._ids["b"].popleft()
            self.written.append(response)

    async def _take_reads(self, ctx, axi):
        beats = []
        async for identity, response, data, last in self._take(
                ctx, axi, "r", ("id", "resp", "data", "last")):
            assert identity == self._ids["r"][0][0]
            assert response == 0 or data == 0, f"an error with data {data:#x}"
            beats.append((response, data))
            assert last == (len(beats) == self._ids["r"][0][1])
            if last:
                self._ids["r"].popleft()
                self.read.append((
                    [one for one, _ in beats],
                    b"".join(data.to_bytes(_BEAT, "little") for _, data in beats)))
                beats = []

    def start_write(self, address, data, strobes=None, *, size=4, burst=1):
        """Begin a burst of ``bytes``; strobes are one integer per beat."""
        beats = [data[first:first + _BEAT] for first in range(0, len(data), _BEAT)]
        identity = int(self._rng.integers(16))
        self._ids["b"].append(identity)
        self._queues["aw"].append((identity, address, len(beats) - 1, size, burst))
        for number, beat in enumerate(beats):
            self._queues["w"].append((
                int.from_bytes(beat, "little"), 0xFFFF if strobes is None else strobes[number],
                number == len(beats) - 1))

    def start_read(self, address, beats, *, size=4, burst=1):
        """Begin a burst."""
        identity = int(self._rng.integers(16))
        self._ids["r"].append((identity, beats))
        self._queues["ar"].append((identity, address, beats - 1, size, burst))

    async def finish_write(self, ctx):
        """The next write's ``bresp``."""
        while not self.written:
            await ctx.tick()
        return self.written.popleft()

    async def finish_read(self, ctx):
        """The next read's responses and bytes."""
        while not self.read:
            await ctx.tick()
        return self.read.popleft()
