# SPDX-License-Identifier: BSD-2-Clause
"""Shares a core's two memory channels among the clients that read."""

from collections.abc import Sequence

from amaranth.hdl import Array, Module, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from hypercast.errors import InputError
from hypercast.rtl.config import Config
from hypercast.rtl.layouts import Channel, ReadPort
from hypercast.rtl.lib.stream_merge import StreamMerge
from hypercast.rtl.limits import BURST, bursts_under_way

__all__ = ["ReadCrossbar"]


class ReadCrossbar(wiring.Component):
    """Takes bursts from the clients round robin, and brings each client its words in order.

    Both channels work at the same time, for different clients: a client that changes channels
    waits until all its words from the other one have arrived. Each channel moves a word per cycle
    and has up to 16 bursts under way, or up to 64 if a ``memory_latency`` above 8 asks for them.
    That is enough for bursts of a word each, unless the latency is longer than 56 cycles. Requests
    and words pass a register each: together they add two cycles to the memory's latency.

    Parameters
    ----------
    config : Config
        Configuration.
    channels : sequence of tuple
        For each client, the channels it reads: ``(0,)``, ``(1,)`` or ``(0, 1)``. What it reads from
        one only needs no multiplexer.

    Members
    -------
    clients : array of In(ReadPort(config))
        Clients; they name no other channels. One that does not take its words holds up the channel.
    read_request, read_data : array of Out(stream), array of In(stream)
        As in ``Channel``, for channels 0 and 1.
    read_words : Out(2)
        Bit ``c`` is high in a cycle in which channel ``c`` delivers a word.

    Raises
    ------
    InputError
        If no client reads one of the channels.
    """

    def __init__(self, config: Config, channels: Sequence[tuple[int, ...]]) -> None:
        for number in range(2):
            if not any(number in own for own in channels):
                raise InputError(f"ReadCrossbar needs a client that reads channel {number}: "
                                 f"the clients' channels are {list(channels)}")
        self._config = config
        self._channels = channels
        channel = Channel(config).members
        super().__init__({
            "clients": In(ReadPort(config)).array(len(channels)),
            "read_request": channel["read_request"].array(2),
            "read_data": channel["read_data"].array(2),
            "read_words": Out(2),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        schedulers = []
        for number in range(2):
            readers = [index for index, own in enumerate(self._channels) if number in own]
            scheduler = _Scheduler(self._config, len(self._channels), readers)
            schedulers.append(scheduler)
            m.submodules[f"channel_{number}"] = scheduler
            words = self.read_data[number]
            wiring.connect(m, scheduler.read_request, wiring.flipped(self.read_request[number]))
            wiring.connect(m, scheduler.read_data, wiring.flipped(words))
            m.d.comb += self.read_words[number].eq(words.valid & words.ready)
        for index, (client, own) in enumerate(zip(self.clients, self._channels, strict=True)):
            if len(own) == 1:
                self._connect(m, index, client, schedulers[own[0]])
            else:
                self._connect_to_both(m, index, client, schedulers)
        return m

    def _connect(self, m: Module, index: int, client: wiring.PureInterface,
                 scheduler: "_Scheduler") -> None:
        """Let a client use one channel."""
        request, words = scheduler.request(index), scheduler.words
        arriving = words.valid & (words.p.client == index)
        m.d.comb += [
            request.p.client.eq(index),
            request.p.address.eq(client.request.p.address),
            request.p.length.eq(client.request.p.length),
            request.valid.eq(client.request.valid),
            client.request.ready.eq(request.ready),
            client.data.valid.eq(arriving),
            client.data.payload.eq(words.p.word),
        ]
        with m.If(arriving):
            m.d.comb += words.ready.eq(client.data.ready)

    def _connect_to_both(self, m: Module, index: int, client: wiring.PureInterface,
                         schedulers: Sequence["_Scheduler"]) -> None:
        """Let a client use either channel, one at a time."""
        current = Signal(name=f"current_{index}")  # the channel last used
        # The client's bursts under way.
        pending = Signal(range(bursts_under_way(self._config) + 3), name=f"pending_{index}")
        requested = Signal(name=f"requested_{index}")
        completed = Signal(name=f"completed_{index}")
        m.d.comb += [
            requested.eq(client.request.valid & client.request.ready),
            client.data.payload.eq(
                Array(scheduler.words.p.word for scheduler in schedulers)[current]),
        ]
        for number, scheduler in enumerate(schedulers):
            request = scheduler.request(index)
            m.d.comb += [
                request.p.client.eq(index),
                request.p.address.eq(client.request.p.address),
                request.p.length.eq(client.request.p.length),
            ]
            with m.If((client.request.p.channel == number)
                      & ((pending == 0) | (current == number))):
                m.d.comb += [
                    request.valid.eq(client.request.valid),
                    client.request.ready.eq(request.ready),
                ]
            words = scheduler.words
            with m.If(words.valid & (words.p.client == index)):
                m.d.comb += [
                    client.data.valid.eq(1),
                    words.ready.eq(client.data.ready),
                    completed.eq(client.data.ready & words.p.last),
                ]
        m.d.sync += pending.eq(pending + requested - completed)
        with m.If(requested):
            m.d.sync += current.eq(client.request.p.channel)


class _Scheduler(wiring.Component):
    """One channel's share: whose burst is next, and whose words are arriving.

    Parameters
    ----------
    config : Config
        Configuration.
    clients : int
        Number of clients.
    readers : list of int
        Numbers of the clients that read this channel.

    Members
    -------
    requests : array of In(stream of {client, address, length})
        Bursts its readers want, in their order; see ``request``.
    words : Out(stream of {client, last, word})
        Words, each with its client; ``last`` marks the last one of a burst.
    read_request, read_data : Out(stream), In(stream)
        As in ``Channel``.
    """

    def __init__(self, config: Config, clients: int, readers: list[int]) -> None:
        self._readers = readers
        self._outstanding = bursts_under_way(config)
        channel = Channel(config).members
        client = range(clients)
        self._request = data.StructLayout({
            "client": client, "address": config.address_width,
            "length": unsigned(BURST.bit_length())})
        self._tag = data.StructLayout({"client": client, "length": unsigned(BURST.bit_length())})
        super().__init__({
            "requests": In(stream.Signature(self._request)).array(len(readers)),
            "words": Out(stream.Signature(data.StructLayout({
                "client": client, "last": 1, "word": config.word_width}))),
            "read_request": channel["read_request"],
            "read_data": channel["read_data"],
        })

    def request(self, client: int) -> stream.Interface:
        """The input of a client's bursts, of which ``client`` is its number."""
        return self.requests[self._readers.index(client)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.merge = merge = StreamMerge(self._request, len(self.requests))
        m.submodules.tags = tags = SyncFIFO(width=self._tag.size, depth=self._outstanding)
        for source, target in zip(self.requests, merge.i, strict=True):
            wiring.connect(m, wiring.flipped(source), target)

        # A burst goes to the channel and its tag into the queue in the same cycle.
        burst = merge.o.p
        tag_in = data.View(self._tag, tags.w_data)
        m.d.comb += [
            self.read_request.valid.eq(merge.o.valid & tags.w_rdy),
            self.read_request.p.address.eq(burst.address),
            self.read_request.p.length.eq(burst.length),
            merge.o.ready.eq(self.read_request.ready & tags.w_rdy),
            tags.w_en.eq(merge.o.valid & self.read_request.ready),
            tag_in.client.eq(burst.client),
            tag_in.length.eq(burst.length),
        ]

        tag = data.View(self._tag, tags.r_data)
        arrived = Signal(range(BURST))  # words of the oldest burst
        last = Signal()
        m.d.comb += [
            last.eq(arrived + 1 == tag.length),
            self.read_data.ready.eq(tags.r_rdy & (~self.words.valid | self.words.ready)),
        ]
        with m.If(self.words.ready):
            m.d.sync += self.words.valid.eq(0)
        with m.If(self.read_data.valid & self.read_data.ready):
            m.d.comb += tags.r_en.eq(last)
            m.d.sync += [
                self.words.valid.eq(1),
                self.words.p.client.eq(tag.client),
                self.words.p.last.eq(last),
                self.words.p.word.eq(self.read_data.payload),
                arrived.eq(arrived + 1),
            ]
            with m.If(last):
                m.d.sync += arrived.eq(0)
        return m
