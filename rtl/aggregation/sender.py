# SPDX-License-Identifier: BSD-2-Clause
"""Sending side of the aggregate engine: a panel's rows become multicasts."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from hypercast.rtl import isa
from hypercast.rtl.aggregation.bypass_rows import BypassRows
from hypercast.rtl.aggregation.row_requests import RowRequests
from hypercast.rtl.config import Config
from hypercast.rtl.isa import ROWS_WIDTH
from hypercast.rtl.layouts import BypassPort, FlitKind, Issue, ReadPort, flit, send_record
from hypercast.rtl.lib.burst_reader import BurstReader
from hypercast.rtl.lib.unpacker import Unpacker

__all__ = ["Sender"]


class Sender(wiring.Component):
    """Walks the rows of a panel and the send list in step, one row per cycle.

    A row without destinations is dropped; any other becomes one flit (kind AGGREGATE, index 0,
    source 0) for its destinations, on the plane its record names. If the list is ``indexed``, only
    rows with destinations are read, where the records' skips lead; see ``RowRequests``.

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
        Number of rows, or of an indexed list's records; valid with ``start``.
    busy : Out(1)
        High from the cycle after ``start`` until the last flit has been accepted, and the last
        record dropped.
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
        m.submodules.lists = lists = BurstReader(config)
        m.submodules.unpacker = unpacker = Unpacker(config.word_width, config.send_record_width)
        m.submodules.bypass_rows = rows = BypassRows(config)
        m.submodules.requests = requests = RowRequests(config)
        connect(m, words.port, flipped(self.data))
        connect(m, requests.command, words.command)
        connect(m, flipped(self.bypass), rows.bypass)
        connect(m, lists.port, flipped(self.list))
        connect(m, lists.o, unpacker.i)
        self._start(m, lists, rows, requests)
        aggregate = self.issue.view(isa.Opcode.AGGREGATE)
        bypassed, indexed = Signal(), Signal()
        with m.If(self.start):
            m.d.sync += [bypassed.eq(aggregate.bypassed), indexed.eq(aggregate.indexed)]
        m.d.comb += [
            unpacker.flush.eq(self.start),  # the last word of the list before
            self.fault.eq(rows.fault),
        ]

        records_left = Signal.like(self.rows)
        listed = Signal()  # the next record is there
        step = Signal()  # a row and its destinations are there, and room for the flit
        record, wanted = send_record(config)(unpacker.o.payload), requests.wanted
        destinations = Mux(indexed, wanted.p.destinations, record.destinations)
        m.d.comb += [
            self.sent.eq(self.flits.valid & self.flits.ready),
            self.blocked.eq(self.flits.valid & ~self.flits.ready),
            listed.eq((records_left != 0) & unpacker.o.valid),
            step.eq(Mux(indexed, wanted.valid, listed)
                    & Mux(bypassed, rows.o.valid, words.o.valid) & ~self.blocked),
            words.o.ready.eq(step & ~bypassed),
            rows.o.ready.eq(step & bypassed),
            wanted.ready.eq(step & indexed),
            requests.records.valid.eq(listed & indexed),
            requests.records.payload.eq(record),
            unpacker.o.ready.eq(Mux(indexed, requests.records.ready & (records_left != 0), step)),
            self.busy.eq((records_left != 0) | requests.busy | self.flits.valid),
        ]
        with m.If(self.start):
            m.d.sync += records_left.eq(self.rows)
        with m.Elif(unpacker.o.valid & unpacker.o.ready):
            m.d.sync += records_left.eq(records_left - 1)
        with m.If(~self.blocked):
            m.d.sync += [
                self.flits.valid.eq(step & destinations.any()),
                self.flits.payload.destinations.eq(destinations),
                self.flits.payload.plane.eq(Mux(indexed, wanted.p.plane, record.plane)),
                self.flits.payload.kind.eq(FlitKind.AGGREGATE),
                self.flits.payload.payload.eq(Mux(bypassed, rows.o.payload, words.o.payload)),
            ]
        return m

    def _start(self, m: Module, lists: BurstReader, rows: BypassRows,
               requests: RowRequests) -> None:
        """Read all records, and either all rows or the rows that the records name."""
        config = self._config
        aggregate = self.issue.view(isa.Opcode.AGGREGATE)
        per_word = config.word_width // config.send_record_width
        if per_word:
            list_words = (self.rows + (per_word - 1)) >> exact_log2(per_word)
        else:
            list_words = self.rows << exact_log2(config.send_record_width // config.word_width)
        m.d.comb += [
            rows.start.eq(self.start & aggregate.bypassed),
            rows.base.eq(aggregate.bypass_base),
            rows.rows.eq(self.rows),
            rows.chained.eq(aggregate.chained),
            requests.start.eq(self.start),
            requests.issue.eq(self.issue),
            requests.rows.eq(self.rows),
        ]
        with m.If(lists.command.ready):
            m.d.sync += lists.command.valid.eq(0)
        with m.If(self.start):
            m.d.sync += [
                lists.command.valid.eq(1),
                lists.command.payload.channel.eq(1),
                lists.command.payload.address.eq(aggregate.send_list),
                lists.command.payload.count.eq(list_words),
            ]
