"""Sending side of the aggregate engine: a panel's rows become multicasts."""

from amaranth.hdl import Module, Mux, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from hypercast.rtl import isa
from hypercast.rtl.aggregation.bypass_rows import BypassRows
from hypercast.rtl.config import Config
from hypercast.rtl.isa import ROWS_WIDTH
from hypercast.rtl.layouts import BypassPort, FlitKind, Issue, ReadPort, flit
from hypercast.rtl.lib.burst_reader import BurstReader
from hypercast.rtl.lib.unpacker import Unpacker

__all__ = ["Sender"]


class Sender(wiring.Component):
    """Walks the rows of a panel and the send list in step, one row per cycle.

    A row without destinations is dropped; any other becomes one flit (kind AGGREGATE, index 0,
    source 0) for its destinations, on the plane its record names.

    Parameters
    ----------
    config : Config
        Configuration of the chip.

    Members
    -------
    start : In(1)
        High for a cycle, while not ``busy``, when an AGGREGATE starts.
    issue : In(Issue)
        The instruction; valid with ``start``.
    rows : In(ROWS_WIDTH)
        Number of rows; valid with ``start``.
    busy : Out(1)
        High from the cycle after ``start`` until the last flit has been accepted.
    data, list : Out(ReadPort)
        Memory for the panel's words and for the send list (channel 1).
    bypass : In(BypassPort(config))
        What the vector unit stores here; with ``bypassed``, the panel's words are taken from it.
    flits : Out(stream of flit)
        To the network; registered.
    sent, blocked : Out(1)
        High in a cycle in which a flit is accepted, or waits to be; for the counters.
    fault : Out(1)
        The ``fault`` of ``BypassRows``.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "issue": In(Issue),
            "rows": In(ROWS_WIDTH),
            "busy": Out(1),
            "data": Out(ReadPort(config)),
            "list": Out(ReadPort(config)),
            "bypass": In(BypassPort(config)),
            "flits": Out(stream.Signature(flit(config))),
            "sent": Out(1),
            "blocked": Out(1),
            "fault": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        config = self._config
        m = Module()
        m.submodules.words = words = BurstReader(config)
        m.submodules.records = records = BurstReader(config)
        m.submodules.unpacker = unpacker = Unpacker(config.word_width, config.send_record_width)
        m.submodules.bypass_rows = rows = BypassRows(config)
        connect(m, words.port, flipped(self.data))
        connect(m, flipped(self.bypass), rows.bypass)
        connect(m, records.port, flipped(self.list))
        connect(m, records.o, unpacker.i)
        self._command(m, words, rows, records)
        bypassed = Signal()
        with m.If(self.start):
            m.d.sync += bypassed.eq(self.issue.view(isa.Opcode.AGGREGATE).bypassed)
        m.d.comb += [
            unpacker.flush.eq(self.start),  # the last word of the list before
            self.fault.eq(rows.fault),
        ]

        rows_left = Signal.like(self.rows)
        step = Signal()  # a row and its record are there, and room for the flit
        record = data.StructLayout({
            "destinations": unsigned(config.cores),
            "plane": unsigned(2),
            "zero": unsigned(config.send_record_width - config.cores - 2),
        })(unpacker.o.payload)
        m.d.comb += [
            self.sent.eq(self.flits.valid & self.flits.ready),
            self.blocked.eq(self.flits.valid & ~self.flits.ready),
            step.eq((rows_left != 0) & Mux(bypassed, rows.o.valid, words.o.valid)
                    & unpacker.o.valid & ~self.blocked),
            words.o.ready.eq(step & ~bypassed),
            rows.o.ready.eq(step & bypassed),
            unpacker.o.ready.eq(step),
            self.busy.eq((rows_left != 0) | self.flits.valid),
        ]
        with m.If(self.start):
            m.d.sync += rows_left.eq(self.rows)
        with m.Elif(step):
            m.d.sync += rows_left.eq(rows_left - 1)
        with m.If(~self.blocked):
            m.d.sync += [
                self.flits.valid.eq(step & record.destinations.any()),
                self.flits.payload.destinations.eq(record.destinations),
                self.flits.payload.plane.eq(record.plane),
                self.flits.payload.kind.eq(FlitKind.AGGREGATE),
                self.flits.payload.payload.eq(Mux(bypassed, rows.o.payload, words.o.payload)),
            ]
        return m

    def _command(self, m, words, rows, records):
        """Read all rows and their records."""
        config = self._config
        aggregate = self.issue.view(isa.Opcode.AGGREGATE)
        per_word = config.word_width // config.send_record_width
        if per_word:
            record_words = (self.rows + (per_word - 1)) >> exact_log2(per_word)
        else:
            record_words = self.rows << exact_log2(config.send_record_width // config.word_width)
        m.d.comb += [
            rows.start.eq(self.start & aggregate.bypassed),
            rows.base.eq(aggregate.bypass_base),
            rows.rows.eq(self.rows),
            rows.chained.eq(aggregate.chained),
        ]
        for reader in (words, records):
            with m.If(reader.command.ready):
                m.d.sync += reader.command.valid.eq(0)
        with m.If(self.start):
            m.d.sync += [
                words.command.valid.eq(~aggregate.bypassed),
                words.command.payload.channel.eq(aggregate.channel),
                words.command.payload.address.eq(aggregate.address),
                words.command.payload.count.eq(self.rows),
                records.command.valid.eq(1),
                records.command.payload.channel.eq(1),
                records.command.payload.address.eq(aggregate.send_list),
                records.command.payload.count.eq(record_words),
            ]
