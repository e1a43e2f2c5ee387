# SPDX-License-Identifier: BSD-2-Clause
"""The crossbar of reads."""

from functools import partial
from unittest.mock import patch

from amaranth.hdl import Array, Assert, Assume, Module, Mux, Signal, Value

from hypercast.proofs.configuration import small
from hypercast.proofs.inside import Inside
from hypercast.proofs.proof import Proof
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import is_held
from hypercast.rtl.limits import BURST
from hypercast.rtl.memory import read_crossbar

__all__ = ["PROOFS"]

#: Channels of the clients.
_CHANNELS = ((0, 1), (0,), (1,))
#: More words than can be under way in the cycles proved.
_WORDS = 256


class _Words:
    """Words under way somewhere: a burst's more for each request, one less for each delivered."""

    def __init__(self, m: Module, asks: Value, length: Value, comes: Value) -> None:
        self.due = Signal(range(_WORDS), name="due")
        self.after = Signal(range(_WORDS), name="after")
        m.d.comb += self.after.eq(self.due - comes)
        m.d.sync += self.due.eq(self.after + Mux(asks, length, 0))


def _bench(client: int) -> Bench:
    """A client gets the words of its own requests, in order, whatever the others do.

    An arbitrary word of an arbitrary request of the client is followed: to the channel, in the
    memory's order, and back.
    """
    m = Module()
    config = small()
    dut = read_crossbar.ReadCrossbar(config, _CHANNELS)
    with patch.object(read_crossbar, "bursts_under_way", lambda config: 2):
        Inside(m, dut)
    inputs = []
    for one, channels in zip(dut.clients, _CHANNELS, strict=True):
        request = one.request
        m.d.comb += [Assume(is_held(m, request)),
                     Assume((request.p.length != 0) & (request.p.length <= BURST))]
        if len(channels) == 1:
            m.d.comb += Assume(~request.valid | (request.p.channel == channels[0]))
        m.d.comb += Assert(is_held(m, one.data))
        inputs += [request.valid, request.payload, one.data.ready]
    memories = []
    for request, words in zip(dut.read_request, dut.read_data, strict=True):
        comes = words.valid & words.ready
        memory = _Words(m, request.valid & request.ready, request.p.length, comes)
        m.d.comb += [Assert(is_held(m, request)), Assume(is_held(m, words)),
                     Assume(~words.valid | (memory.due != 0))]
        memories.append(memory)
        inputs += [request.ready, words.valid, words.payload]

    mine = dut.clients[client]
    choose, place = Signal(), Signal(4)
    asks = mine.request.valid & mine.request.ready
    gets = mine.data.valid & mine.data.ready
    own = _Words(m, asks, mine.request.p.length, gets)
    # Requests taken from clients, of each channel, that have not gone out.
    waiting = [Signal(range(4), name=f"waiting_{number}") for number in range(2)]
    for number, request in enumerate(dut.read_request):
        taken = sum(one.request.valid & one.request.ready & (one.request.p.channel == number)
                    for one in dut.clients)
        m.d.sync += waiting[number].eq(
            waiting[number] + taken - (request.valid & request.ready))

    followed, asked, came = Signal(), Signal(), Signal()
    channel, address, length = Signal(), Signal(config.address_width), Signal(range(BURST + 1))
    before_asked, before_came, before_got = Signal(2), Signal(range(_WORDS)), Signal(range(_WORDS))
    word, offset = Signal(config.word_width), Signal(4)
    out = Array(dut.read_request)
    goes_out = Array(one.valid & one.ready for one in dut.read_request)[channel]
    after = Array(memory.after for memory in memories)[channel]
    arrives = Array(one.valid & one.ready for one in dut.read_data)[channel]
    data = Array(one.payload for one in dut.read_data)[channel]
    left = Array(count - (one.valid & one.ready)
                 for count, one in zip(waiting, dut.read_request, strict=True))
    with m.If(~followed):
        with m.If(asks & choose & (place < mine.request.p.length)):
            m.d.sync += [
                followed.eq(1), asked.eq(0), came.eq(0), channel.eq(mine.request.p.channel),
                address.eq(mine.request.p.address), length.eq(mine.request.p.length),
                offset.eq(place), before_asked.eq(left[mine.request.p.channel]),
                before_got.eq(own.after + place),
            ]
    with m.Else():
        with m.If(~asked & goes_out):
            m.d.sync += before_asked.eq(before_asked - 1)
            with m.If(before_asked == 0):
                m.d.sync += [asked.eq(1), before_came.eq(after + offset)]
                m.d.comb += Assert((out[channel].p.address == address)
                                   & (out[channel].p.length == length))
        with m.If(asked & ~came & arrives):
            m.d.sync += before_came.eq(before_came - 1)
            with m.If(before_came == 0):
                m.d.sync += [came.eq(1), word.eq(data)]
        with m.If(gets):
            m.d.sync += before_got.eq(before_got - 1)
            with m.If(before_got == 0):
                m.d.sync += followed.eq(0)
        with m.If(mine.data.valid & (before_got == 0)):
            m.d.comb += Assert(came & (mine.data.payload == word))
    m.d.comb += Assert(~mine.data.valid | (own.due != 0))
    return Bench(m, [choose, place, *inputs], [
        followed & came & gets & (before_got == 0) & (offset == 1),
        memories[0].due > 1, memories[1].due > 1])


PROOFS = [
    Proof(block="read_crossbar", size=f"3 clients, one that reads {channels}",
          bench=partial(_bench, client), cycles=7 + client,
          limit="the invariant would have to add up the lengths in the queues of tags",
          claim="a client gets the words of its own requests, in order; nothing is asked twice",
          slow=True)
    for client, channels in enumerate(("both channels", "one channel"))
]
