# SPDX-License-Identifier: BSD-2-Clause
"""Reads runs of consecutive memory words in bursts."""

from amaranth.hdl import Module, Mux, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import ReadPort
from hypercast.rtl.limits import BURST

__all__ = ["BurstReader", "WordSource", "read_command"]


def read_command(config: Config) -> data.StructLayout:
    """Layout of a command: read ``count`` words (0 to ``channel_words``) from ``address`` on."""
    return data.StructLayout({
        "channel": unsigned(1), "address": unsigned(config.address_width),
        "count": range(config.channel_words + 1)})


class WordSource(wiring.Signature):
    """A share of a burst reader (seen from the engine).

    Members
    -------
    command : Out(stream of read_command(config))
        Words to read.
    words : In(stream of word_width)
        The words, in the order of the commands. The engine takes all it asked for.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "command": Out(stream.Signature(read_command(config))),
            "words": In(stream.Signature(config.word_width)),
        })


class BurstReader(wiring.Component):
    """Reads runs of words ahead of their consumer.

    A burst is requested only when there is room for it, so ``port.data.ready`` is always high. A
    request still goes out while ``config.read_buffer`` words are under way or queued: a memory
    whose round trip takes fewer cycles (request and queue add three) delivers a word per cycle
    without a gap, also from one command to the next.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    command : In(stream of read_command(config))
        Accepted as soon as the last burst of the command before it is under way, whether or not
        its words have arrived.
    o : Out(stream of word_width)
        The words, in the order of the commands.
    port : Out(ReadPort(config))
        Requests are registered.
    busy : Out(1)
        High from the cycle after a command (of at least one word) until its last word is taken.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "command": In(stream.Signature(read_command(config))),
            "o": Out(stream.Signature(config.word_width)),
            "port": Out(ReadPort(config)),
            "busy": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        burst = min(BURST, self._config.read_buffer)
        depth = self._config.read_buffer + burst
        m.submodules.queue = queue = SyncFIFOBuffered(
            width=self._config.word_width, depth=depth)
        wiring.connect(m, wiring.flipped(self.o), queue.r_stream)
        m.d.comb += [
            queue.w_en.eq(self.port.data.valid),
            queue.w_data.eq(self.port.data.payload),
            self.port.data.ready.eq(1),
        ]

        todo = Signal(read_command(self._config))  # what is left of the command
        request = self.port.request
        reserved = Signal(range(depth + 1))  # words requested and not yet taken
        last = Signal()
        issue = Signal()
        length = Signal.like(request.p.length)
        m.d.comb += [
            last.eq(todo.count <= burst),
            length.eq(Mux(last, todo.count, burst)),
            issue.eq((todo.count != 0) & (reserved <= depth - burst)
                     & (~request.valid | request.ready)),
            self.command.ready.eq((todo.count == 0) | (issue & last)),
            self.busy.eq((todo.count != 0) | (reserved != 0)),
        ]
        with m.If(request.ready):
            m.d.sync += request.valid.eq(0)
        with m.If(issue):
            m.d.sync += [
                request.valid.eq(1),
                request.p.channel.eq(todo.channel),
                request.p.address.eq(todo.address),
                request.p.length.eq(length),
                todo.address.eq(todo.address + length),
                todo.count.eq(todo.count - length),
            ]
        with m.If(self.command.valid & self.command.ready):
            m.d.sync += todo.eq(self.command.payload)
        m.d.sync += reserved.eq(
            reserved + Mux(issue, length, 0) - (self.o.valid & self.o.ready))
        return m
