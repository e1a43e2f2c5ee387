# SPDX-License-Identifier: BSD-2-Clause
"""Prefetched words of one aggregator's edge streams, handed out edge by edge."""

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, signed, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from hypercast.rtl.config import Config
from hypercast.rtl.limits import refill_words

__all__ = ["EdgeBuffer", "aggregator_streams", "edge", "edge_word"]


def edge(config: Config) -> data.StructLayout:
    """Layout of an edge record: 32 bits, see ``docs/blocks.md``.

    ``weight`` is signed, ``row`` is of the strip, ``end`` marks the last edge of its stream and
    ``last`` the last edge of a message.
    """
    row_width = exact_log2(config.strip_rows)
    return data.StructLayout({
        "weight": signed(config.element_width),
        "zero": unsigned(16 - config.element_width),
        "row": unsigned(row_width),
        "row_zero": unsigned(14 - row_width),
        "end": unsigned(1),
        "last": unsigned(1),
    })


def aggregator_streams(config: Config) -> int:
    """Edge streams that one aggregator serves.

    Aggregator ``plane mod eject`` serves stream ``(plane div eject) * cores + source``.
    """
    return config.streams // config.eject


def edge_word(config: Config, streams: int) -> data.StructLayout:
    """Layout of a word of edges for one of ``streams`` streams."""
    return data.StructLayout({
        "stream": range(streams),
        "word": unsigned(config.word_width),
    })


class EdgeBuffer(wiring.Component):
    """Holds up to ``edge_buffer`` words of each of an aggregator's edge streams.

    Any stream can give an edge in every cycle, so messages of different sources may alternate
    without a pause. Words are therefore in distributed RAM, and the streams' pointers in
    registers. After the edge marked ``end`` its stream goes on with the next word.

    Parameters
    ----------
    config : Config
        Configuration of the chip.

    Members
    -------
    clear : In(1)
        High for one cycle to empty all streams.
    fill : In(stream of edge_word), always ready
        Next word of a stream; the sender keeps count of the room. Available one cycle later.
    stream : In(range(aggregator_streams))
        Stream to take an edge from.
    valid : Out(1)
        High in a cycle in which ``stream`` has an edge.
    edge : Out(edge)
        The next edge of ``stream``, in the same cycle.
    take : In(1)
        High, only while ``valid``, to remove the edge.
    freed : Out(stream of range(aggregator_streams)), always ready
        The stream of which ``take`` just used up ``refill_words`` words more.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        streams = aggregator_streams(config)
        super().__init__({
            "clear": In(1),
            "fill": In(stream.Signature(edge_word(config, streams), always_ready=True)),
            "stream": In(range(streams)),
            "valid": Out(1),
            "edge": Out(edge(config)),
            "take": In(1),
            "freed": Out(stream.Signature(range(streams), always_ready=True)),
        })

    def elaborate(self, platform: object) -> Module:
        config = self._config
        m = Module()
        streams = aggregator_streams(config)
        edge_bits = exact_log2(config.word_width // 32)
        word_bits = exact_log2(config.edge_buffer)
        refill_bits = exact_log2(refill_words(config))

        m.submodules.words = words = Memory(
            shape=config.word_width, depth=streams * config.edge_buffer, init=[])
        write = words.write_port()
        read = words.read_port(domain="comb")

        # Per stream, modulo twice the buffer: edges taken out, and words put in.
        taken = Array(Signal(edge_bits + word_bits + 1, name=f"taken_{index}")
                      for index in range(streams))
        filled = Array(Signal(word_bits + 1, name=f"filled_{index}") for index in range(streams))

        target = Signal(word_bits + 1)
        m.d.comb += [
            target.eq(filled[self.fill.payload.stream]),
            write.addr.eq(Cat(target[:word_bits], self.fill.payload.stream)),
            write.data.eq(self.fill.payload.word),
            write.en.eq(self.fill.valid),
        ]
        with m.If(self.fill.valid):
            m.d.sync += filled[self.fill.payload.stream].eq(target + 1)

        position = Signal(edge_bits + word_bits + 1)
        word = position[edge_bits:]
        used_up = Signal()  # the word, with this edge
        m.d.comb += [
            position.eq(taken[self.stream]),
            self.valid.eq(word != filled[self.stream]),
            read.addr.eq(Cat(word[:word_bits], self.stream)),
            self.edge.eq(read.data.word_select(position[:edge_bits], 32)),
            used_up.eq(self.edge.end | position[:edge_bits].all()),
            self.freed.payload.eq(self.stream),
            self.freed.valid.eq(self.take & used_up & word[:refill_bits].all()),
        ]
        with m.If(self.take):
            m.d.sync += taken[self.stream].eq(
                Mux(used_up, Cat(Const(0, edge_bits), word + 1), position + 1))

        with m.If(self.clear):
            m.d.sync += [pointer.eq(0) for pointer in (*taken, *filled)]
        return m
