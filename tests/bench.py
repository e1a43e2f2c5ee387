# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of blocks share: running a bench, driving streams, and a model of the memory.

Every ``rng`` is a ``numpy.random.Generator`` or ``random.Random``; only its ``random()`` is used.
"""

import numbers
from collections import deque
from functools import lru_cache

import numpy as np
from amaranth.hdl import ClockDomain, Module, Value
from amaranth.sim import Simulator

from hypercast.rtl.layouts import BURST

__all__ = ["MemoryModel", "get", "put", "run", "shared"]

#: Of the simulated clock, in seconds; any would do.
_PERIOD = 1e-6


@lru_cache(maxsize=8)
def shared(component, *arguments):
    """``component(*arguments)``, the same one for all tests that ask for it.

    Most of a short simulation's time goes into its compilation; ``run`` compiles a block once.
    """
    return component(*arguments)


class _Simulation:
    """A block's simulator, which can run several times, each time from the block's reset."""

    def __init__(self, dut):
        top = Module()
        top.domains.sync = ClockDomain()
        top.submodules.dut = dut
        self._simulator = Simulator(top)
        self._simulator.add_clock(_PERIOD)
        self._places = {False: 0, True: 0}  # of testbenches, by whether in the background
        self._functions = {}

    def run(self, testbenches, background):
        self._simulator.reset()
        for kind, functions in ((False, testbenches), (True, background)):
            self._functions[kind] = functions
            while self._places[kind] < len(functions):
                self._add(kind, self._places[kind])
                self._places[kind] += 1
        self._simulator.run()

    def _add(self, kind, place):
        async def testbench(ctx):
            functions = self._functions[kind]
            if place < len(functions):
                await functions[place](ctx)
        self._simulator.add_testbench(testbench, background=kind)


_simulation = lru_cache(maxsize=8)(_Simulation)


def run(dut, *testbenches, background=(), cycles=100_000):
    """Simulate ``dut`` from its reset until every testbench has returned.

    Parameters
    ----------
    dut : Elaboratable
        The block under test; its domain is "sync".
    testbenches : functions
        ``bench(ctx)`` returning an awaitable (an ``async def``, or a lambda calling one).
    background : iterable of functions
        The same, but nobody waits for them to return.
    cycles : int
        The watchdog's patience.

    Raises
    ------
    TimeoutError
        If a testbench has not returned after ``cycles`` cycles.
    """
    async def watchdog(ctx):
        await ctx.delay(cycles * _PERIOD)
        raise TimeoutError(f"{type(dut).__name__}: a testbench still waits after {cycles} cycles")

    _simulation(dut).run(testbenches, (*background, watchdog))


def _happens(rng, probability):
    """Draws whether an event of ``probability`` happens; never without ``rng``."""
    return rng is not None and rng.random() < probability


def _set_payload(ctx, stream, payload):
    if isinstance(payload, numbers.Integral):
        ctx.set(Value.cast(stream.payload), int(payload))
    else:
        ctx.set(stream.payload, payload)


async def put(ctx, stream, payloads, rng=None, idle=0.0):
    """Send ``payloads`` to the block's input ``stream``.

    Parameters
    ----------
    payloads : iterable
        Integers (the raw bits, whatever the layout), or dictionaries or constants of the layout.
    idle : float
        Probability that ``valid`` is low in a cycle; ``payload`` is then garbage.
    """
    for payload in payloads:
        while _happens(rng, idle):
            ctx.set(Value.cast(stream.payload), ~ctx.get(Value.cast(stream.payload)))
            await ctx.tick()
        _set_payload(ctx, stream, payload)
        ctx.set(stream.valid, 1)
        ready = False
        while not ready:
            _, _, ready = await ctx.tick().sample(stream.ready)
        ctx.set(stream.valid, 0)


async def get(ctx, stream, count, rng=None, stall=0.0):
    """Receive ``count`` payloads from the block's output ``stream``, in a list.

    Integers, or constants of the payload's layout. Fails if an offered payload is withdrawn or
    changes before it was accepted.

    Parameters
    ----------
    stall : float
        Probability that ``ready`` is low in a cycle.
    """
    received = []
    held = None
    while len(received) < count:
        ready = not _happens(rng, stall)
        ctx.set(stream.ready, ready)
        _, _, valid, payload, bits = await ctx.tick().sample(
            stream.valid, stream.payload, Value.cast(stream.payload))
        assert held is None or (valid and bits == held), "a stream did not hold its payload"
        held = bits if valid and not ready else None
        if valid and ready:
            received.append(payload)
    ctx.set(stream.ready, 0)
    return received


class MemoryModel:
    """Both memory channels of a core, as the block under test sees them through its ports.

    Every port is served by a coroutine of its own, one word per cycle and port.

    Parameters
    ----------
    config : Config
        Configuration.
    rng : random generator or None
        Source of the stalls.
    latency : int
        Least number of cycles, at least 1, from an accepted read request to its first word, and
        from an accepted write until it is visible (``idle`` is low meanwhile).
    stall : float
        Probability, per cycle, that a request, a word or a write is not taken or given.

    Attributes
    ----------
    channels : list of numpy.ndarray
        Contents of channels 0 and 1, ``channel_words`` Python integers each.
    """

    def __init__(self, config, rng=None, latency=1, stall=0.0):
        self.channels = [np.zeros(config.channel_words, dtype=object) for _ in range(2)]
        self._words = config.channel_words
        self._rng = rng
        self._latency = latency
        self._stall = stall
        self._hidden = 0

    async def serve_read(self, ctx, port):
        """Serve the client's ``ReadPort``, forever. A burst's words are those at its acceptance."""
        queue = deque()
        cycle = 0
        offered = False
        while True:
            ready = not _happens(self._rng, self._stall)
            due = bool(queue) and queue[0][0] <= cycle
            offered = due and (offered or not _happens(self._rng, self._stall))
            ctx.set(port.request.ready, ready)
            ctx.set(port.data.valid, offered)
            if offered:
                ctx.set(port.data.payload, queue[0][1])
            _, _, valid, request, taken = await ctx.tick().sample(
                port.request.valid, port.request.payload, port.data.ready)
            if offered and taken:
                queue.popleft()
                offered = False
            cycle += 1
            if valid and ready:
                start, length = request.address, request.length
                assert 1 <= length <= BURST, f"read burst of {length} words"
                assert start + length <= self._words, f"read burst of {length} at {start} wraps"
                burst = self.channels[request.channel][start:start + length]
                queue.extend((cycle + self._latency - 1, int(word)) for word in burst)

    async def serve_words(self, ctx, source):
        """Serve the client's ``WordSource``, forever."""
        while True:
            [command] = await get(ctx, source.command, 1, self._rng, self._stall)
            start, count = command.address, command.count
            assert start + count <= self._words, f"{count} words at {start} wrap"
            await ctx.tick().repeat(self._latency)
            words = self.channels[command.channel][start:start + count].tolist()
            await put(ctx, source.words, words, self._rng, self._stall)

    async def serve_write(self, ctx, port):
        """Serve the client's ``WritePort``, forever."""
        queue = deque()
        cycle = 0
        while True:
            ready = not _happens(self._rng, self._stall)
            ctx.set(port.request.ready, ready)
            ctx.set(port.idle, self._hidden == 0)
            _, _, valid, request = await ctx.tick().sample(
                port.request.valid, port.request.payload)
            cycle += 1
            if valid and ready:
                queue.append((cycle + self._latency, request))
                self._hidden += 1
            while queue and queue[0][0] <= cycle:
                _, write = queue.popleft()
                self.channels[write.channel][write.address] = write.data
                self._hidden -= 1
