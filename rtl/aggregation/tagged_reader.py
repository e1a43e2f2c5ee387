# SPDX-License-Identifier: BSD-2-Clause
"""Reads memory for several purposes at a time and tells the words apart."""

from amaranth.hdl import Module, ShapeLike, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import ReadPort
from hypercast.rtl.limits import BURST

__all__ = ["TaggedReader", "tagged_request", "tagged_word"]


def tagged_request(config: Config, tag: ShapeLike) -> data.StructLayout:
    """Layout of a burst of ``length`` (1 to ``BURST``) words from ``address`` on, for ``tag``."""
    return data.StructLayout({
        "tag": tag,
        "address": unsigned(config.address_width),
        "length": unsigned(BURST.bit_length()),
    })


def tagged_word(config: Config, tag: ShapeLike) -> data.StructLayout:
    """Layout of a word with its request's tag."""
    return data.StructLayout({"tag": tag, "word": unsigned(config.word_width)})


class TaggedReader(wiring.Component):
    """Remembers the tags of up to ``read_buffer`` bursts under way on channel 1.

    Requests pass in the same cycle; words take one cycle from the port to the output.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    tag : ShapeLike
        Shape of a tag.

    Members
    -------
    request : In(stream of tagged_request)
        Bursts, for whose words there is room.
    o : Out(stream of tagged_word), always ready
        The words requested, in that order.
    port : Out(ReadPort)
        Memory; ``data`` is always accepted.
    """

    def __init__(self, config: Config, tag: ShapeLike) -> None:
        self._config = config
        self._tag = data.StructLayout({"tag": tag, "length": unsigned(BURST.bit_length())})
        super().__init__({
            "request": In(stream.Signature(tagged_request(config, tag))),
            "o": Out(stream.Signature(tagged_word(config, tag), always_ready=True)),
            "port": Out(ReadPort(config)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.bursts = bursts = SyncFIFO(
            width=self._tag.size, depth=self._config.read_buffer)
        new, current = self._tag(bursts.w_data), self._tag(bursts.r_data)
        m.d.comb += [
            self.port.request.valid.eq(self.request.valid & bursts.w_rdy),
            self.port.request.payload.channel.eq(1),
            self.port.request.payload.address.eq(self.request.payload.address),
            self.port.request.payload.length.eq(self.request.payload.length),
            self.request.ready.eq(self.port.request.ready & bursts.w_rdy),
            bursts.w_en.eq(self.request.valid & self.port.request.ready),
            new.tag.eq(self.request.payload.tag),
            new.length.eq(self.request.payload.length),
        ]

        arrived = Signal.like(current.length)  # words of the current burst so far
        complete = Signal()
        m.d.comb += [
            self.port.data.ready.eq(1),
            complete.eq(arrived + 1 == current.length),
            bursts.r_en.eq(self.port.data.valid & complete),
        ]
        with m.If(self.port.data.valid):
            with m.If(complete):
                m.d.sync += arrived.eq(0)
            with m.Else():
                m.d.sync += arrived.eq(arrived + 1)
        m.d.sync += [
            self.o.valid.eq(self.port.data.valid),
            self.o.payload.tag.eq(current.tag),
            self.o.payload.word.eq(self.port.data.payload),
        ]
        return m
