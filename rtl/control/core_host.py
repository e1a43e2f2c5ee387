# SPDX-License-Identifier: BSD-2-Clause
"""A core's end of the host's window."""

from amaranth.hdl import Module, Signal, ValueLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.isa import ROWS_WIDTH
from hypercast.rtl.layouts import HostRequest, ReadPort, WeightPort, WritePort, weight_row
from hypercast.rtl.registers import COUNTERS, CoreSpace, Space

__all__ = ["CoreHost", "space_members"]


def space_members(config: Config) -> dict[str, wiring.Member]:
    """Members that lead to what the spaces of a core's window hold, whoever carries out accesses.

    Members
    -------
    read, write : Out(ReadPort(config)), Out(WritePort(config))
        Memory channels, for the spaces FEATURES and GRADIENTS.
    weights : Out(WeightPort(config))
        Rows of the weight bank.
    weights_write : Out(stream of weight_row(config))
        New rows for it.
    rows_index, rows_write, rows_write_data : Out(log2 row_counts), Out(1), Out(ROWS_WIDTH)
        Row table: entry, and whether to set it to ``rows_write_data``.
    rows_data : In(ROWS_WIDTH)
        The entry ``rows_index``, one cycle later.
    counter_address : Out(log2 counters)
        Counter to read.
    counter_data : In(32)
        The counter, one cycle later.
    """
    return {
        "read": Out(ReadPort(config)),
        "write": Out(WritePort(config)),
        "weights": Out(WeightPort(config)),
        "weights_write": Out(stream.Signature(weight_row(config))),
        "rows_index": Out(range(config.row_counts)),
        "rows_write": Out(1),
        "rows_write_data": Out(ROWS_WIDTH),
        "rows_data": In(ROWS_WIDTH),
        "counter_address": Out(range(len(COUNTERS))),
        "counter_data": In(32),
    }


class CoreHost(wiring.Component):
    """Carries out the window accesses to this core, one at a time.

    A memory word, or a row of weights, is ``config.chunks`` pieces of 32 bits, low piece first.
    Writes are gathered, and the word is written with its last piece: write all of a word's pieces
    in order. Requests to other cores alone, and addresses outside their space, get no answer.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    core : In(dimensions)
        This core's address.
    request, request_valid : In(HostRequest), In(1)
        Access to a core; ``request_valid`` is high for one cycle, not again before the answer.
    response : Out(32)
        What was read (after a write, anything); zero while ``response_valid`` is low.
    response_valid : Out(1)
        High for one cycle, when the access is complete: a write is then visible. Registered.
    read, write, weights, weights_write, rows_*, counter_*
        What it gives access to; see ``space_members``.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "core": In(config.dimensions),
            "request": In(HostRequest),
            "request_valid": In(1),
            "response": Out(32),
            "response_valid": Out(1),
            **space_members(config),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        request = Signal(HostRequest)
        chunk_bits = (config.chunks - 1).bit_length()
        chunk, row = request.address[:chunk_bits], request.address[chunk_bits:]
        gathered = Signal(config.word_width)
        last = Signal()

        m.d.comb += [
            last.eq(chunk == config.chunks - 1),
            self.read.request.payload.channel.eq(request.space == Space.GRADIENTS),
            self.read.request.payload.address.eq(row),
            self.read.request.payload.length.eq(1),
            self.read.data.ready.eq(1),
            self.write.request.payload.channel.eq(request.space == Space.GRADIENTS),
            self.write.request.payload.address.eq(row),
            self.write.request.payload.data.eq(gathered),
            self.weights.request.payload.eq(row),
            self.weights_write.payload.index.eq(row),
            self.weights_write.payload.payload.eq(gathered),
            self.rows_index.eq(request.address - CoreSpace.ROWS),
            self.rows_write_data.eq(request.data),
            self.counter_address.eq(request.address - CoreSpace.COUNTERS),
        ]
        m.d.sync += [self.response.eq(0), self.response_valid.eq(0)]

        def answer(value: ValueLike = 0) -> None:
            m.d.sync += [self.response_valid.eq(1), self.response.eq(value)]
            m.next = "IDLE"

        with m.FSM():
            with m.State("IDLE"), m.If(
                    self.request_valid & (self.request.all_cores
                                          | (self.request.core == self.core))):
                m.d.sync += request.eq(self.request)
                m.next = "DECODE"

            with m.State("DECODE"):
                m.next = "IDLE"
                m.d.sync += gathered.word_select(chunk, 32).eq(request.data)
                with m.Switch(request.space):
                    with m.Case(Space.FEATURES, Space.GRADIENTS), m.If(row < config.channel_words):
                        with m.If(~request.write):
                            m.d.sync += self.read.request.valid.eq(1)
                            m.next = "READ"
                        with m.Elif(last):
                            m.d.sync += self.write.request.valid.eq(1)
                            m.next = "WRITE"
                        with m.Else():
                            answer()
                    with m.Case(Space.WEIGHTS), m.If(row < config.weight_rows):
                        with m.If(~request.write):
                            m.next = "READ_WEIGHTS"
                        with m.Elif(last):
                            m.next = "WRITE_WEIGHTS"
                        with m.Else():
                            answer()
                    with m.Case(Space.CORE):
                        with m.If(request.address < CoreSpace.ROWS + config.row_counts):
                            m.d.comb += self.rows_write.eq(request.write)
                            m.next = "ROWS"
                        with m.Elif((request.address >= CoreSpace.COUNTERS) & ~request.write
                                    & (request.address < CoreSpace.COUNTERS + len(COUNTERS))):
                            m.next = "COUNTER"

            with m.State("READ"):
                with m.If(self.read.request.ready):
                    m.d.sync += self.read.request.valid.eq(0)
                with m.If(self.read.data.valid):
                    answer(self.read.data.payload.word_select(chunk, 32))
            with m.State("WRITE"), m.If(self.write.request.ready):
                m.d.sync += self.write.request.valid.eq(0)
                m.next = "VISIBLE"
            with m.State("VISIBLE"), m.If(self.write.idle):
                answer()
            with m.State("READ_WEIGHTS"):
                m.d.comb += self.weights.request.valid.eq(1)
                with m.If(self.weights.request.ready):
                    m.next = "WEIGHTS"
            with m.State("WEIGHTS"):
                answer(self.weights.data.word_select(chunk, 32))
            with m.State("WRITE_WEIGHTS"):
                m.d.comb += self.weights_write.valid.eq(1)
                with m.If(self.weights_write.ready):
                    answer()
            with m.State("ROWS"):
                answer(self.rows_data)
            with m.State("COUNTER"):
                answer(self.counter_data)
        return m
