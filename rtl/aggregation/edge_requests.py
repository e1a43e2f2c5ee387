# SPDX-License-Identifier: BSD-2-Clause
"""Decides which words of the edge streams are read next."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from hypercast.rtl.aggregation.edge_header import descriptor
from hypercast.rtl.config import Config
from hypercast.rtl.limits import refill_words

__all__ = ["EdgeRequests", "stream_request"]


def stream_request(config: Config) -> data.StructLayout:
    """Layout of a burst of ``length`` words (1 to ``refill_words``) of a stream."""
    return data.StructLayout({
        "stream": range(config.streams),
        "address": config.address_width,
        "length": range(refill_words(config) + 1),
    })


class EdgeRequests(wiring.Component):
    """Turns room in the edge buffers into bursts.

    Room comes as tokens, one for ``refill_words`` words of a stream. At first all buffers are
    empty: that is a round of a token for every stream, then another round, and so on until
    ``edge_buffer`` words of each have been asked for. Tokens of words used up go before all rounds
    but the first: somebody waits for more words of that stream. After its last word a stream begins
    again, so buffers fill for the next use while this one ends.

    Parameters
    ----------
    config : Config
        Configuration of the chip.

    Members
    -------
    restart : In(1)
        High for a cycle to begin with other streams: their descriptors follow.
    descriptors : In(stream of descriptor), always ready
        The descriptors of streams 0, 1, ... ``streams - 1``.
    tokens : In(stream of range(streams))
        Streams of which ``refill_words`` words have been used up.
    request : Out(stream of stream_request)
        Bursts; registered. One decided before ``restart``, or in its cycle, is still offered.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "restart": In(1),
            "descriptors": In(stream.Signature(descriptor(config), always_ready=True)),
            "tokens": In(stream.Signature(range(config.streams))),
            "request": Out(stream.Signature(stream_request(config))),
        })

    def elaborate(self, platform: object) -> Module:
        config = self._config
        m = Module()
        refill = refill_words(config)
        stream_bits = exact_log2(config.streams)

        # Where the streams begin, and what is left until they begin again.
        m.submodules.origins = origins = Memory(
            shape=descriptor(config), depth=config.streams, init=[])
        m.submodules.rests = rests = Memory(
            shape=descriptor(config), depth=config.streams, init=[])
        origin, new_origin = origins.read_port(domain="comb"), origins.write_port()
        old_rest, new_rest = rests.read_port(domain="comb"), rests.write_port()
        described = Signal(range(config.streams + 1))
        m.d.comb += [
            new_origin.addr.eq(described[:stream_bits]),
            new_origin.data.eq(self.descriptors.payload),
            new_origin.en.eq(self.descriptors.valid),
        ]
        with m.If(self.descriptors.valid):
            m.d.sync += described.eq(described + 1)

        # The rounds at the beginning, token by token.
        rounds_bits = exact_log2(config.edge_buffer // refill)
        position = Signal(stream_bits + rounds_bits + 1)
        first_round = Signal()
        turn, last_turn = Signal(), Signal()  # of the rounds; else of ``tokens``
        begun = Signal()  # a token, of which bursts are left
        number = Signal(range(config.streams))
        m.d.comb += [
            first_round.eq(position[stream_bits:] == 0),
            turn.eq(Mux(begun, last_turn, ~position[-1] & (first_round | ~self.tokens.valid))),
            number.eq(Mux(turn, position[:stream_bits], self.tokens.payload)),
            origin.addr.eq(number),
            old_rest.addr.eq(number),
        ]

        # A token takes several bursts if the stream ends and begins again within it.
        request = self.request
        rest = Signal(descriptor(config))
        wanted = Signal(range(refill + 1), init=refill)
        length = Signal.like(wanted)
        m.d.comb += begun.eq(wanted != refill)
        available, step, complete = Signal(), Signal(), Signal()
        begin = (turn & first_round & ~begun) | (old_rest.data.words == 0)
        m.d.comb += [
            # After the first round, all streams are described.
            available.eq(Mux(
                turn, position[:stream_bits] < described, self.tokens.valid)),
            step.eq(available & (~request.valid | request.ready)),
            rest.eq(Mux(begin, origin.data.as_value(), old_rest.data.as_value())),
            length.eq(Mux(rest.words < wanted, rest.words, wanted)),
            complete.eq((length == wanted) | (length == 0)),  # 0: an empty stream
            self.tokens.ready.eq(step & complete & ~turn),
            new_rest.addr.eq(number),
            new_rest.data.address.eq(rest.address + length),
            new_rest.data.words.eq(rest.words - length),
            new_rest.en.eq(step),
        ]
        with m.If(request.ready):
            m.d.sync += request.valid.eq(0)
        with m.If(step):
            m.d.sync += [
                request.valid.eq(length != 0),
                request.p.stream.eq(number),
                request.p.address.eq(rest.address),
                request.p.length.eq(length),
                wanted.eq(Mux(complete, refill, wanted - length)),
                last_turn.eq(turn),
                position.eq(position + (turn & complete)),
            ]
        with m.If(self.restart):
            m.d.sync += [position.eq(0), described.eq(0), wanted.eq(refill)]
        return m
