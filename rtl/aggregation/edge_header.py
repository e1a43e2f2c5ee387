# SPDX-License-Identifier: BSD-2-Clause
"""Reads an edge set's header: how many edges, and where each stream lies."""

from amaranth.hdl import Module, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import ReadPort
from hypercast.rtl.lib.burst_reader import BurstReader
from hypercast.rtl.lib.unpacker import Unpacker

__all__ = ["EdgeHeader", "descriptor", "edge_count"]

#: Two header records: total and zero, then address and words of each stream.
_PAIR = data.StructLayout({"first": unsigned(32), "second": unsigned(32)})


def edge_count(config: Config) -> range:
    """Shape of a count of edges, at most what a memory channel holds."""
    return range(config.channel_words * config.chunks + 1)


def descriptor(config: Config) -> data.StructLayout:
    """Layout of where a stream lies in channel 1: word address, and number of words."""
    return data.StructLayout({
        "address": unsigned(config.address_width),
        "words": unsigned(config.address_width),
    })


class EdgeHeader(wiring.Component):
    """Reads the header of an edge set, one descriptor per cycle.

    Parameters
    ----------
    config : Config
        Configuration of the chip.

    Members
    -------
    start : In(1)
        High for a cycle, while not ``busy``, to begin.
    address : In(address_width)
        Word address of the edge set in channel 1; valid with ``start``.
    busy : Out(1)
        High from the cycle after ``start`` until all descriptors have been given.
    total : Out(stream of edge_count), always ready
        Edges of the set; once per start, before the first descriptor.
    descriptors : Out(stream of descriptor), always ready
        Streams 0, 1, ... ``streams - 1`` in order.
    port : Out(ReadPort)
        Memory; ``data`` is always accepted.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "address": In(config.address_width),
            "busy": Out(1),
            "total": Out(stream.Signature(edge_count(config), always_ready=True)),
            "descriptors": Out(stream.Signature(descriptor(config), always_ready=True)),
            "port": Out(ReadPort(config)),
        })

    def elaborate(self, platform: object) -> Module:
        config = self._config
        m = Module()
        m.submodules.reader = reader = BurstReader(config)
        m.submodules.unpacker = unpacker = Unpacker(config.word_width, _PAIR.size)
        connect(m, reader.port, flipped(self.port))
        connect(m, reader.o, unpacker.i)

        pairs = config.streams + 1
        command = reader.command
        with m.If(command.ready):
            m.d.sync += command.valid.eq(0)
        with m.If(self.start):
            m.d.sync += [
                command.valid.eq(1),
                command.payload.channel.eq(1),
                command.payload.address.eq(self.address),
                command.payload.count.eq(-(-pairs * _PAIR.size // config.word_width)),
            ]
        m.d.comb += unpacker.flush.eq(self.start)  # the last word of the header before

        pair = _PAIR(unpacker.o.payload)
        left = Signal(range(pairs + 1))
        with m.If(self.start):
            m.d.sync += left.eq(pairs)
        with m.Elif(unpacker.o.valid & unpacker.o.ready):
            m.d.sync += left.eq(left - 1)
        m.d.comb += [
            self.busy.eq(left != 0),
            unpacker.o.ready.eq(self.busy),
            self.total.valid.eq(unpacker.o.valid & (left == pairs)),
            self.descriptors.valid.eq(unpacker.o.valid & self.busy & (left != pairs)),
            self.total.payload.eq(pair.first),
            self.descriptors.payload.address.eq(pair.first),
            self.descriptors.payload.words.eq(pair.second),
        ]
        return m
