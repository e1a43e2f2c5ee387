# SPDX-License-Identifier: BSD-2-Clause
"""An AXI4-Lite manager with random delays on every channel."""

from collections import deque

from hypercast.rtl.control.axi_lite import Response
from hypercast.rtl.registers import register

__all__ = ["AxiManager"]


class AxiManager:
    """Drives an ``AxiLite`` interface; transactions of either direction complete in order.

    Parameters
    ----------
    axi : interface
        The subordinate's port.
    rng : numpy.random.Generator
        Source of the delays.
    delay : float
        Probability, per cycle and channel, that nothing is offered or taken.
    """

    def __init__(self, axi, rng, delay):
        self._axi, self._rng, self._delay = axi, rng, delay
        self._queues = {"aw": deque(), "w": deque(), "ar": deque()}
        self._responses = {"b": deque(), "r": deque()}
        #: Background testbenches for ``tests.bench.run``.
        self.drivers = [
            lambda ctx: self._send(ctx, "aw", ("awaddr", "awprot")),
            lambda ctx: self._send(ctx, "w", ("wdata", "wstrb")),
            lambda ctx: self._send(ctx, "ar", ("araddr", "arprot")),
            lambda ctx: self._receive(ctx, "b", ("bresp",)),
            lambda ctx: self._receive(ctx, "r", ("rresp", "rdata")),
        ]

    def _pauses(self):
        return self._rng.random() < self._delay

    async def _send(self, ctx, channel, names):
        valid, ready = (getattr(self._axi, channel + end) for end in ("valid", "ready"))
        while True:
            while not self._queues[channel] or self._pauses():
                await ctx.tick()
            for name, value in zip(names, self._queues[channel].popleft(), strict=True):
                ctx.set(getattr(self._axi, name), value)
            ctx.set(valid, 1)
            taken = False
            while not taken:
                _, _, taken = await ctx.tick().sample(ready)
            ctx.set(valid, 0)
            for name in names:
                ctx.set(getattr(self._axi, name), 0)

    async def _receive(self, ctx, channel, names):
        valid, ready = (getattr(self._axi, channel + end) for end in ("valid", "ready"))
        held = None
        while True:
            takes = not self._pauses()
            ctx.set(ready, takes)
            _, _, offered, *payload = await ctx.tick().sample(
                valid, *(getattr(self._axi, name) for name in names))
            assert held is None or (offered and payload == held), f"{channel} not held"
            held = payload if offered and not takes else None
            if offered and takes:
                self._responses[channel].append(payload)

    def start_write(self, address, data, strobes=0xF):
        """Begin a write; take its response with ``write_response``."""
        self._queues["aw"].append((address, int(self._rng.integers(8))))
        self._queues["w"].append((data, strobes))

    def start_read(self, address):
        """Begin a read; take its response with ``read_response``."""
        self._queues["ar"].append((address, int(self._rng.integers(8))))

    async def write_response(self, ctx):
        """The next write's ``bresp``."""
        while not self._responses["b"]:
            await ctx.tick()
        return self._responses["b"].popleft()[0]

    async def read_response(self, ctx):
        """The next read's ``(rresp, rdata)``; with an error, the data must be zero."""
        while not self._responses["r"]:
            await ctx.tick()
        response, data = self._responses["r"].popleft()
        assert response == Response.OKAY or data == 0, f"an error with data {data:#x}"
        return response, data

    async def write(self, ctx, address, data, strobes=0xF):
        """Write and wait for ``bresp``."""
        self.start_write(address, data, strobes)
        return await self.write_response(ctx)

    async def read(self, ctx, address):
        """Read and wait for ``(rresp, rdata)``."""
        self.start_read(address)
        return await self.read_response(ctx)

    async def read_register(self, ctx, name):
        """What a register holds; the chip must not refuse."""
        response, value = await self.read(ctx, register(name))
        assert response == Response.OKAY
        return value

    async def write_register(self, ctx, name, value):
        """Write a register; the chip must not refuse."""
        assert await self.write(ctx, register(name), value) == Response.OKAY
