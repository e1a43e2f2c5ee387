# SPDX-License-Identifier: BSD-2-Clause
"""An AXI4 memory that checks its manager, with random delays on every channel."""

from collections import deque

import numpy as np

from hypercast.rtl.layouts import BURST
from hypercast.rtl.memory.axi4 import BOUNDARY, Response

__all__ = ["AxiMemory"]


class AxiMemory:
    """Serves ``Axi4``, or a half of it: words are read when asked for, written when acknowledged.

    Fails if an offer is withdrawn or changes, or if a burst is not INCR of 1 to ``BURST`` full,
    aligned beats inside the memory and within 4 KiB.

    Parameters
    ----------
    read, write : interface or None
        The manager's ports, ``Axi4Read`` and ``Axi4Write``.
    base : int
        Byte address of word 0.
    words : int
        Size.
    rng : random generator or None
        Source of the delays.
    latency : int
        Least number of cycles, at least 1, from an accepted read address to its first word, and
        from a write's last beat to its response.
    stall : float
        Probability, per cycle and channel, that nothing is offered or taken.
    shy : bool
        Addresses and data are taken only after they are offered, as AXI4 permits.
    respond : function
        Response to an access to a word of an address.

    Attributes
    ----------
    contents : numpy.ndarray
        The words, Python integers.
    reads, writes : list of tuple
        Address (of a word) and beats of every burst so far.
    most_reads, most_writes : int
        The most bursts that were ever under way.
    drivers : list of functions
        Background testbenches for ``tests.bench.run``.
    """

    def __init__(self, *, read=None, write=None, base, words, rng=None, latency=1, stall=0.0,
                 shy=False, respond=lambda address: Response.OKAY):
        self.contents = np.zeros(words, dtype=object)
        self.reads, self.writes = [], []
        self.most_reads = self.most_writes = 0
        self.drivers = [self._clock]
        if read is not None:
            self.drivers += [self._read_address, self._read_data]
        if write is not None:
            self.drivers += [self._write_address, self._write_data, self._write_response]
        self._read, self._write = read, write
        self._base = base
        self._rng, self._latency, self._stall, self._respond = rng, latency, stall, respond
        self._shy = shy
        self._cycle = 0
        self._words = deque()  # due, word, response, last
        self._bursts = deque()  # addresses whose data is not complete
        self._beats = deque()
        self._responses = deque()  # due, address, words

    async def _clock(self, ctx):
        while True:
            await ctx.tick()
            self._cycle += 1

    def _stalls(self):
        return self._rng is not None and self._rng.random() < self._stall

    async def _take(self, ctx, port, channel, names, accept):
        """Call ``accept`` with the payload of every transfer."""
        valid, ready = getattr(port, f"{channel}valid"), getattr(port, f"{channel}ready")
        held = None
        while True:
            takes = not self._stalls() and (ctx.get(valid) or not self._shy)
            ctx.set(ready, takes)
            _, _, offered, *payload = await ctx.tick().sample(
                valid, *(getattr(port, channel + name) for name in names))
            assert held is None or (offered and payload == held), f"{channel} not held"
            held = payload if offered and not takes else None
            if offered and takes:
                accept(*payload)

    async def _give(self, ctx, port, channel, queue, payload):
        """Offer what is due; ``payload`` turns a queue's entry into the values of signals."""
        valid, ready = getattr(port, f"{channel}valid"), getattr(port, f"{channel}ready")
        while True:
            while not queue or queue[0][0] > self._cycle or self._stalls():
                await ctx.tick()
            for name, value in payload(*queue[0]).items():
                ctx.set(getattr(port, channel + name), value)
            ctx.set(valid, 1)
            taken = False
            while not taken:
                _, _, taken = await ctx.tick().sample(ready)
            ctx.set(valid, 0)
            queue.popleft()

    def _check(self, port, channel, address, length, size, burst):
        """The first word's address of a burst, and its beats."""
        width = len(getattr(port, "rdata" if channel == "ar" else "wdata")) // 8
        start, beats = address - self._base, length + 1
        assert burst == 1 and 1 << size == width, f"burst type {burst}, size {size}"
        assert beats <= BURST, f"burst of {beats} beats"
        assert address % width == 0 and 0 <= start <= (len(self.contents) - beats) * width, (
            f"{beats} beats at byte {address:#x}")
        last = address + beats * width - 1
        assert address // BOUNDARY == last // BOUNDARY, f"{address:#x} to {last:#x} crosses 4 KiB"
        return start // width, beats

    async def _read_address(self, ctx):
        def accept(*payload):
            start, beats = self._check(self._read, "ar", *payload)
            self.reads.append((start, beats))
            due = self._cycle + self._latency - 1
            self._words.extend(
                (due, int(self.contents[address]), self._respond(address),
                 address == start + beats - 1) for address in range(start, start + beats))
            self.most_reads = max(self.most_reads, sum(last for *_, last in self._words))

        await self._take(ctx, self._read, "ar", ("addr", "len", "size", "burst"), accept)

    async def _read_data(self, ctx):
        await self._give(
            ctx, self._read, "r", self._words,
            lambda _, word, response, last: {"data": word, "resp": response, "last": last})

    async def _write_address(self, ctx):
        def accept(*payload):
            burst = self._check(self._write, "aw", *payload)
            self.writes.append(burst)
            self._bursts.append(burst)
            self._complete()
            self.most_writes = max(
                self.most_writes, len(self._bursts) + len(self._responses))

        await self._take(ctx, self._write, "aw", ("addr", "len", "size", "burst"), accept)

    async def _write_data(self, ctx):
        def accept(word, strobes, last):
            assert strobes == (1 << len(self._write.wstrb)) - 1, f"strobes {strobes:#x}"
            self._beats.append((word, last))
            self._complete()

        await self._take(ctx, self._write, "w", ("data", "strb", "last"), accept)

    def _complete(self):
        """Schedule the response to the oldest burst, if all its data is here."""
        if self._bursts and len(self._beats) >= self._bursts[0][1]:
            start, beats = self._bursts.popleft()
            words, lasts = zip(*(self._beats.popleft() for _ in range(beats)), strict=True)
            assert lasts == (0,) * (beats - 1) + (1,), f"wlast {lasts} in a burst at word {start}"
            self._responses.append((self._cycle + self._latency - 1, start, words))

    async def _write_response(self, ctx):
        def payload(_, start, words):
            responses = [self._respond(start + index) for index in range(len(words))]
            for index, word in enumerate(words):
                if responses[index] == Response.OKAY:
                    self.contents[start + index] = word
            return {"resp": max(responses, key=lambda response: response.value)}

        await self._give(ctx, self._write, "b", self._responses, payload)
