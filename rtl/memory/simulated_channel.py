# SPDX-License-Identifier: BSD-2-Clause
"""A memory channel with the latency and the stalls of an HBM2 pseudo-channel, for simulation."""

from amaranth.hdl import Cat, Const, Module, Mux, ShapeLike, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from hypercast.errors import InputError
from hypercast.rtl.config import Config
from hypercast.rtl.layouts import Channel
from hypercast.rtl.limits import OUTSTANDING
from hypercast.rtl.memory.sram_bank import SramBank

__all__ = ["SimulatedChannel", "memory_channel"]

#: Cycles of a refresh, and from one refresh to the next: tRFC = 350 ns (8 Gb per channel) and
#: tREFI = 3.9 us of HBM2 (Ramulator 2, ``src/dram/impl/HBM2.cpp``) at 250 MHz.
_REFRESH = 88
_REFRESH_INTERVAL = 975


def memory_channel(config: Config, seed: int) -> wiring.Component:
    """Memory behind a ``Channel`` as ``config`` asks: ``SramBank`` or ``SimulatedChannel``."""
    if config.memory_latency == 1 and not config.memory_stalls:
        return SramBank(config)
    return SimulatedChannel(config, seed)


class SimulatedChannel(wiring.Component):
    """An ``SramBank`` far away.

    The first word of a burst arrives ``config.memory_latency`` cycles (but at least 2) after its
    request was accepted, or later if other bursts or writes are before it; up to 64 bursts wait
    for theirs. Words are as they were when the request was accepted, and a write takes as long as
    a read to become visible: a client that reads without waiting for ``idle`` gets old data.

    With ``config.memory_stalls``, nothing moves for 88 cycles in every 975, as while an HBM2 at 250
    MHz refreshes all banks. In the other cycles, at random, requests are held up in one of four,
    as by bank conflicts, and words, read or written, in one of sixteen.

    Requests of single words pay no more than others, wherever they read. Each may open a row of a
    bank, and HBM2 lasts that: Ramulator 2 allows four activations in 15 ns (nFAW), 2 ns apart
    (nRRDS), or 3 ns in a bank group (nRRDL). So a cycle of 4 ns has time for one activation, and
    the channel takes no more than one request per cycle. What random words meet are bank conflicts:
    a bank that has opened a row opens the next one 19 ns later (nRC), which is 4.75 cycles. Of the
    16 banks of a pseudo-channel, the four requests before may have taken four, so one request in
    four finds its bank busy. That is what is charged. It is not charged that it may then wait for
    more than a cycle, that nRC is longer in slow devices, or that reads and writes take turns. A
    controller that changes the order of requests, which would avoid most conflicts, has no
    advantage here. More than all this, the 64 bursts that can wait bound the pace of single words:
    they come at one per cycle only if the latency is shorter.

    Parameters
    ----------
    config : Config
        Configuration.
    seed : int
        Seed of the stalls, 1 to 2**32 - 1.

    Members
    -------
    channel : In(Channel(config))
        The channel.
    fault : Out(1)
        The ``fault`` of the ``SramBank``.

    Raises
    ------
    InputError
        If the seed is out of range.
    """

    def __init__(self, config: Config, seed: int) -> None:
        if not 1 <= seed < 1 << 32:
            raise InputError(f"seed must be 1 to 2**32 - 1, not {seed}")
        self._seed = seed
        self._stalls = config.memory_stalls
        self._delay = max(config.memory_latency - 1, 1)  # the bank adds a cycle
        self._config = config
        super().__init__({"channel": In(Channel(config)), "fault": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.bank = bank = SramBank(self._config)
        request, words, write = (
            self.channel.read_request, self.channel.read_data, self.channel.write)
        reply = data.StructLayout({"first": 1, "word": words.payload.shape()})
        m.submodules.replies = replies = _Delay(reply, self._delay + 2 * OUTSTANDING, self._delay)
        m.submodules.writes = writes = _Delay(
            write.p.shape(), self._delay + 1, self._delay)
        wiring.connect(m, writes.o, bank.channel.write)
        m.d.comb += [self.channel.idle.eq(writes.empty), self.fault.eq(bank.fault)]

        # A burst waits until its first word is offered.
        waiting = Signal(range(OUTSTANDING + 1))
        shown = Signal()  # the word offered has been offered before
        accepted, begins, first = Signal(), Signal(), Signal()
        requested, answered = bank.channel.read_request, bank.channel.read_data
        offered = stream.Signature(words.payload.shape()).create()
        m.d.comb += [
            accepted.eq(requested.valid & requested.ready),
            begins.eq(replies.o.valid & replies.o.p.first & ~shown),
            replies.i.valid.eq(answered.valid),
            replies.i.p.first.eq(first),
            replies.i.p.word.eq(answered.payload),
            answered.ready.eq(replies.i.ready),
            offered.valid.eq(replies.o.valid),
            offered.payload.eq(replies.o.p.word),
            replies.o.ready.eq(offered.ready),
        ]
        m.d.sync += [
            waiting.eq(waiting + accepted - begins),
            shown.eq(replies.o.valid & ~replies.o.ready),
        ]
        with m.If(~answered.valid | answered.ready):
            m.d.sync += first.eq(accepted)

        bounded = stream.Signature(request.p.shape()).create()
        m.d.comb += [
            requested.valid.eq(bounded.valid & (waiting != OUTSTANDING)),
            requested.payload.eq(bounded.payload),
            bounded.ready.eq(requested.ready & (waiting != OUTSTANDING)),
        ]
        stalls = self._random_stalls(m) if self._stalls else [Const(0)] * 3
        for source, target, stall in zip(
                (request, offered, write), (bounded, words, writes.i), stalls, strict=True):
            # What has been offered stays offered, stall or not.
            held = Signal()
            m.d.sync += held.eq(target.valid & ~target.ready)
            m.d.comb += target.payload.eq(source.payload)
            with m.If(held | ~stall):
                m.d.comb += [target.valid.eq(source.valid), source.ready.eq(target.ready)]
        return m

    def _random_stalls(self, m: Module) -> list[Value]:
        """Three bits: requests, words read and words written are held up."""
        # An odd factor, so that neighbouring seeds begin far apart and none at zero.
        start = self._seed * 0x9E3779B1 % (1 << 32)
        # Taps 32, 22, 2, 1 give the longest period (Xilinx XAPP052).
        lfsr = Signal(32, init=start)
        m.d.sync += lfsr.eq(Cat(lfsr[31] ^ lfsr[21] ^ lfsr[1] ^ lfsr[0], lfsr))
        time = Signal(range(_REFRESH_INTERVAL), init=start % _REFRESH_INTERVAL)
        m.d.sync += time.eq(Mux(time == _REFRESH_INTERVAL - 1, 0, time + 1))
        refresh = time < _REFRESH
        return [refresh | Cat(lfsr[bit] for bit in bits).all()
                for bits in ((3, 14), (1, 8, 22, 27), (4, 11, 17, 30))]


class _Delay(wiring.Component):
    """A queue that offers what it gets ``cycles`` cycles later.

    Members
    -------
    i, o : In(stream), Out(stream)
        Input and output.
    empty : Out(1)
        High when nothing is under way.
    """

    def __init__(self, shape: ShapeLike, depth: int, cycles: int) -> None:
        self._shape = shape
        self._depth = depth
        self._cycles = cycles
        super().__init__({
            "i": In(stream.Signature(shape)),
            "o": Out(stream.Signature(shape)),
            "empty": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.queue = queue = SyncFIFO(width=len(self.i.p.as_value()), depth=self._depth)
        accepted = Signal()
        m.d.comb += [
            queue.w_en.eq(self.i.valid),
            queue.w_data.eq(self.i.p.as_value()),
            self.i.ready.eq(queue.w_rdy),
            accepted.eq(self.i.valid & self.i.ready),
            self.empty.eq(queue.level == 0),
        ]
        past = Signal(self._cycles - 1)  # ``accepted`` of the last cycles
        due = Cat(accepted, past)
        m.d.sync += past.eq(due)
        ripe = Signal(range(self._depth + 1))
        m.d.sync += ripe.eq(ripe + due[-1] - (self.o.valid & self.o.ready))
        m.d.comb += [
            self.o.valid.eq(ripe != 0),
            self.o.p.as_value().eq(queue.r_data),
            queue.r_en.eq(self.o.valid & self.o.ready),
        ]
        return m
