# SPDX-License-Identifier: BSD-2-Clause
"""Prefetches the words of all edge streams, as fast as the aggregators use them up."""

from amaranth.hdl import Cat, Const, Module, Mux, ResetInserter, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from hypercast.rtl.aggregation.edge_buffer import aggregator_streams, edge_word
from hypercast.rtl.aggregation.edge_header import EdgeHeader, edge_count
from hypercast.rtl.aggregation.edge_requests import EdgeRequests
from hypercast.rtl.aggregation.tagged_reader import TaggedReader, tagged_request
from hypercast.rtl.config import Config
from hypercast.rtl.layouts import ReadPort
from hypercast.rtl.lib.stream_merge import StreamMerge
from hypercast.rtl.limits import refill_words

__all__ = ["EdgeFetch"]


def _tag(config: Config) -> data.StructLayout:
    """Whom a word is for: the header, or else a stream, of an edge set with this parity."""
    return data.StructLayout({
        "header": unsigned(1), "parity": unsigned(1), "stream": range(config.streams)})


class EdgeFetch(wiring.Component):
    """Reads an edge set: its header, then the streams' words, ``edge_buffer`` of each ahead.

    Words used up come back as tokens (``freed``), for which the stream's next words are requested.
    So there is always room for the words under way.

    The next AGGREGATE mostly has the same edge set, so a stream that ends begins again. If another
    set is started instead, the words ahead are void: sets have parity 0 and 1 in turn, and a word
    that arrives with the wrong one is dropped. A header that is still being read is read to its end
    before the next one: so whatever was requested for the set before last has come.

    Parameters
    ----------
    config : Config
        Configuration of the chip.

    Members
    -------
    start : In(1)
        High for a cycle, while not ``busy`` and when all edges of the set before have been used, to
        begin.
    edge_set : In(address_width), prefetch : In(1)
        Word address of the edge set in channel 1, and that its edges are not used before the next
        start; valid with ``start``.
    forget : In(1)
        High for a cycle when the memory may have changed: the next start reads it anew.
    busy : Out(1)
        High from the cycle after ``start`` until ``total`` is given; stays low with ``prefetch``.
    total : Out(stream of edge_count), always ready
        Edges of the set; once per start without ``prefetch``, a cycle later or more.
    clear : Out(1)
        High for a cycle when all words delivered so far are void.
    fill : Out(stream of edge_word), always ready
        Words, each with the stream it continues; registered.
    freed : array of In(stream of range(aggregator_streams)), always ready
        For each aggregator, the stream of which ``refill_words`` words have been used up.
    port : Out(ReadPort)
        Memory; ``data`` is always accepted.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "edge_set": In(config.address_width),
            "prefetch": In(1),
            "forget": In(1),
            "busy": Out(1),
            "total": Out(stream.Signature(edge_count(config), always_ready=True)),
            "clear": Out(1),
            "fill": Out(stream.Signature(edge_word(config, config.streams), always_ready=True)),
            "freed": In(stream.Signature(
                range(aggregator_streams(config)), always_ready=True)).array(config.eject),
            "port": Out(ReadPort(config)),
        })

    def elaborate(self, platform: object) -> Module:
        config = self._config
        m = Module()
        m.submodules.header = header = EdgeHeader(config)
        m.submodules.requests = requests = EdgeRequests(config)
        connect(m, self._collect_tokens(m), requests.tokens)

        current = Signal(config.address_width)
        known = Signal()  # the streams are of the edge set ``current``, or will be
        again = Signal()
        late = Signal()  # the header of ``current`` waits, another one is being read
        m.d.comb += [
            again.eq(self.start & known & (self.edge_set == current)),
            self.clear.eq(self.start & ~again),
            header.start.eq((self.clear | late) & ~header.busy),
            header.address.eq(Mux(self.clear, self.edge_set, current)),
            requests.restart.eq(self.clear),
            requests.descriptors.valid.eq(header.descriptors.valid & ~late),
            requests.descriptors.payload.eq(header.descriptors.payload),
        ]
        m.d.sync += late.eq((self.clear | late) & header.busy)
        with m.If(self.clear):
            m.d.sync += [current.eq(self.edge_set), known.eq(1)]
        with m.Elif(self.forget):
            m.d.sync += known.eq(0)

        total, total_known = Signal(edge_count(config)), Signal()
        m.d.comb += [
            self.total.valid.eq(self.busy & total_known),
            self.total.payload.eq(total),
        ]
        with m.If(header.total.valid & ~late):
            m.d.sync += [total.eq(header.total.payload), total_known.eq(1)]
        with m.If(self.clear):
            m.d.sync += total_known.eq(0)
        with m.If(self.start):
            m.d.sync += self.busy.eq(~self.prefetch)
        with m.Elif(total_known):
            m.d.sync += self.busy.eq(0)

        self._share_port(m, header, requests.request, late)
        return m

    def _collect_tokens(self, m: Module) -> stream.Interface:
        """Queue every aggregator's tokens. Returns them merged."""
        config = self._config
        reset = ResetInserter(self.clear)
        aggregator_bits = exact_log2(config.eject)
        # As many tokens as there can be.
        depth = aggregator_streams(config) * config.edge_buffer // refill_words(config)
        tokens = StreamMerge(range(config.streams), config.eject)
        m.submodules.tokens = reset(tokens)
        for aggregator, freed in enumerate(self.freed):
            queue = SyncFIFO(width=max(1, len(freed.payload)), depth=depth)
            m.submodules[f"queue_{aggregator}"] = reset(queue)
            source = queue.r_data[:config.dimensions]
            plane = Cat(Const(aggregator, aggregator_bits), queue.r_data[config.dimensions:])
            m.d.comb += [
                queue.w_en.eq(freed.valid),
                queue.w_data.eq(freed.payload),
                tokens.i[aggregator].valid.eq(queue.r_rdy),
                tokens.i[aggregator].payload.eq(Cat(source, plane)),
                queue.r_en.eq(tokens.i[aggregator].ready),
            ]
        return tokens.o

    def _share_port(self, m: Module, header: EdgeHeader, streams: stream.Interface,
                    late: Signal) -> None:
        """Serve the header reader and the streams' requests from ``port``."""
        tag = _tag(self._config)
        m.submodules.reader = reader = TaggedReader(self._config, tag)
        m.submodules.bursts = bursts = StreamMerge(tagged_request(self._config, tag), 2)
        connect(m, bursts.o, reader.request)
        connect(m, reader.port, flipped(self.port))
        parity = Signal()
        requested = Signal()  # parity of the request offered
        with m.If(header.start):
            m.d.sync += parity.eq(~parity)
        with m.If(~streams.valid | streams.ready):
            m.d.sync += requested.eq(parity)
        word = reader.o.payload
        m.d.comb += [
            # Void words are requested before the header, so no later set can meet them.
            bursts.i[0].valid.eq(
                header.port.request.valid & ~(streams.valid & (requested != parity))),
            bursts.i[0].payload.tag.header.eq(1),
            bursts.i[0].payload.address.eq(header.port.request.payload.address),
            bursts.i[0].payload.length.eq(header.port.request.payload.length),
            header.port.request.ready.eq(bursts.i[0].ready),
            bursts.i[1].valid.eq(streams.valid),
            bursts.i[1].payload.tag.parity.eq(requested),
            bursts.i[1].payload.tag.stream.eq(streams.payload.stream),
            bursts.i[1].payload.address.eq(streams.payload.address),
            bursts.i[1].payload.length.eq(streams.payload.length),
            streams.ready.eq(bursts.i[1].ready),
            header.port.data.valid.eq(reader.o.valid & word.tag.header),
            header.port.data.payload.eq(word.word),
            self.fill.valid.eq(
                reader.o.valid & ~word.tag.header & (word.tag.parity == parity) & ~late),
            self.fill.payload.stream.eq(word.tag.stream),
            self.fill.payload.word.eq(word.word),
        ]
