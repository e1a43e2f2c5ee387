# SPDX-License-Identifier: BSD-2-Clause
"""A memory channel in on-chip RAM."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import Channel
from hypercast.rtl.lib.parity_memory import ParityMemory

__all__ = ["SramBank"]


class SramBank(wiring.Component):
    """``config.channel_words`` words of RAM behind a ``Channel``.

    One word is read or written per cycle, writes first. Without writes and back-pressure, the
    first word of a burst is valid in the cycle after its request was accepted, and bursts follow
    each other without a gap. Writes are always accepted, and visible from the next cycle on.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    channel : In(Channel(config))
        The channel. ``read_data.payload`` is the RAM's output register.
    fault : Out(1)
        High for a cycle after a word was taken that is not what was written.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({"channel": In(Channel(config)), "fault": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.storage = storage = ParityMemory(
            self._config.word_width, self._config.channel_words)
        [read_port], write_port = storage.reads, storage.write
        request, words, write = (
            self.channel.read_request, self.channel.read_data, self.channel.write)

        m.d.comb += [
            self.channel.idle.eq(1),
            write.ready.eq(1),
            write_port.en.eq(write.valid),
            write_port.addr.eq(write.p.address),
            write_port.data.eq(write.p.data),
        ]

        # A burst's first word is read when its request is accepted, the others from here.
        address = Signal.like(request.p.address)
        left = Signal.like(request.p.length)
        can_read = Signal()
        first = Signal()
        m.d.comb += [
            can_read.eq(~write.valid & (~words.valid | words.ready)),
            request.ready.eq(can_read & (left == 0)),
            first.eq(request.valid & (left == 0)),
            read_port.en.eq(can_read & (first | (left != 0))),
            read_port.addr.eq(Mux(first, request.p.address, address)),
            words.payload.eq(read_port.data),
        ]
        m.d.sync += self.fault.eq(words.valid & words.ready & read_port.fault)
        with m.If(words.ready):
            m.d.sync += words.valid.eq(0)
        with m.If(read_port.en):
            m.d.sync += [
                words.valid.eq(1),
                address.eq(read_port.addr + 1),
                left.eq(Mux(first, request.p.length, left) - 1),
            ]
        return m
