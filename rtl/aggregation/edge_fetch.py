"""Prefetches the words of all edge streams, as fast as the lanes use them up."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from hypercast.rtl.aggregation.edge_buffer import edge_word, lane_streams
from hypercast.rtl.aggregation.edge_header import EdgeHeader, descriptor, edge_count
from hypercast.rtl.aggregation.tagged_reader import TaggedReader, tagged_request
from hypercast.rtl.layouts import ReadPort
from hypercast.rtl.lib.stream_merge import StreamMerge

__all__ = ["EdgeFetch"]


def _tag(config):
    """Whom a word is for: the header, or else a stream."""
    return data.StructLayout({"header": unsigned(1), "stream": range(config.streams)})


class EdgeFetch(wiring.Component):
    """Reads an edge set: its header, then the streams' words, ``edge_buffer`` of each ahead.

    When a stream's descriptor arrives, its first words are requested in one burst, and what is left
    of the stream goes into a table. Every word used up comes back as a token (``freed``), for which
    the stream's next word is requested, if there is one. So there is always room for the words
    under way.

    Parameters
    ----------
    config : Config
        Configuration of the chip.

    Members
    -------
    start : In(1)
        High for a cycle, while not ``busy``, to begin.
    edge_set : In(address_width)
        Word address of the edge set in channel 1; valid with ``start``.
    busy : Out(1)
        High from the cycle after ``start`` until the header has been read, and while there are
        tokens. Low once all edges have been used: then nothing is under way.
    total : Out(stream of edge_count), always ready
        Edges of the set; once per start, before the first word of any stream.
    fill : Out(stream of edge_word), always ready
        Words, each with the stream it continues; registered.
    freed : array of In(stream of range(lane_streams)), always ready
        For each lane, the stream of which a word has been used up.
    port : Out(ReadPort)
        Memory; ``data`` is always accepted.
    """

    def __init__(self, config):
        self._config = config
        super().__init__({
            "start": In(1),
            "edge_set": In(config.address_width),
            "busy": Out(1),
            "total": Out(stream.Signature(edge_count(config), always_ready=True)),
            "fill": Out(stream.Signature(edge_word(config, config.streams), always_ready=True)),
            "freed": In(stream.Signature(
                range(lane_streams(config)), always_ready=True)).array(config.eject),
            "port": Out(ReadPort(config)),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.header = header = EdgeHeader(self._config)
        m.d.comb += [header.start.eq(self.start), header.address.eq(self.edge_set)]
        connect(m, header.total, flipped(self.total))
        tokens, waiting = self._collect_tokens(m)
        requests = self._prefetch(m, header.descriptors, tokens)
        self._share_port(m, header.port, requests)
        m.d.comb += self.busy.eq(header.busy | waiting)
        return m

    def _collect_tokens(self, m):
        """Queue every lane's tokens. Returns them merged, and whether there are any."""
        config = self._config
        lane_bits = exact_log2(config.eject)
        # There are at most as many tokens as words of buffer.
        depth = lane_streams(config) * config.edge_buffer
        m.submodules.tokens = tokens = StreamMerge(range(config.streams), config.eject)
        waiting = tokens.o.valid
        for lane, freed in enumerate(self.freed):
            queue = SyncFIFO(width=max(1, len(freed.payload)), depth=depth)
            m.submodules[f"queue_{lane}"] = queue
            source = queue.r_data[:config.dimensions]
            plane = Cat(Const(lane, lane_bits), queue.r_data[config.dimensions:])
            m.d.comb += [
                queue.w_en.eq(freed.valid),
                queue.w_data.eq(freed.payload),
                tokens.i[lane].valid.eq(queue.r_rdy),
                tokens.i[lane].payload.eq(Cat(source, plane)),
                queue.r_en.eq(tokens.i[lane].ready),
            ]
            waiting |= queue.level != 0
        return tokens.o, waiting

    def _prefetch(self, m, descriptors, tokens):
        """Turn descriptors, and else tokens, into requests. Returns the stream of these."""
        config = self._config
        m.submodules.rests = rests = Memory(
            shape=descriptor(config), depth=config.streams, init=[])
        read, write = rests.read_port(domain="comb"), rests.write_port()
        described = Signal(range(config.streams))  # the next descriptor's stream
        number = Signal.like(described)
        rest = Signal(descriptor(config))  # of stream ``number``, before this step
        most = Signal(range(config.edge_buffer + 1))
        length = Signal.like(most)
        available = Signal()
        step = Signal()

        m.d.comb += [
            available.eq(descriptors.valid | tokens.valid),
            read.addr.eq(tokens.payload),
        ]
        with m.If(descriptors.valid):
            m.d.comb += [
                number.eq(described),
                rest.eq(descriptors.payload),
                most.eq(config.edge_buffer),
                descriptors.ready.eq(step),
            ]
            with m.If(step):
                m.d.sync += described.eq(described + 1)  # back to 0 after the last
        with m.Else():
            m.d.comb += [
                number.eq(tokens.payload),
                rest.eq(read.data),
                most.eq(1),
                tokens.ready.eq(step),
            ]

        request = stream.Signature(tagged_request(config, _tag(config))).create()
        m.d.comb += [
            step.eq(~request.valid | request.ready),
            length.eq(Mux(rest.words < most, rest.words, most)),
            write.addr.eq(number),
            write.data.address.eq(rest.address + length),
            write.data.words.eq(rest.words - length),
            write.en.eq(available & step),
        ]
        with m.If(step):
            m.d.sync += [
                request.valid.eq(available & (length != 0)),
                request.payload.tag.header.eq(0),
                request.payload.tag.stream.eq(number),
                request.payload.address.eq(rest.address),
                request.payload.length.eq(length),
            ]
        return request

    def _share_port(self, m, header, prefetch):
        """Serve the header reader's port and the prefetcher's requests from ``port``."""
        tag = _tag(self._config)
        m.submodules.reader = reader = TaggedReader(self._config, tag)
        m.submodules.requests = requests = StreamMerge(tagged_request(self._config, tag), 2)
        connect(m, requests.o, reader.request)
        connect(m, reader.port, flipped(self.port))
        word = reader.o.payload
        m.d.comb += [
            requests.i[0].valid.eq(header.request.valid),
            requests.i[0].payload.tag.header.eq(1),
            requests.i[0].payload.address.eq(header.request.payload.address),
            requests.i[0].payload.length.eq(header.request.payload.length),
            header.request.ready.eq(requests.i[0].ready),
            header.data.valid.eq(reader.o.valid & word.tag.header),
            header.data.payload.eq(word.word),
            self.fill.valid.eq(reader.o.valid & ~word.tag.header),
            self.fill.payload.stream.eq(word.tag.stream),
            self.fill.payload.word.eq(word.word),
        ]
        connect(m, prefetch, requests.i[1])
