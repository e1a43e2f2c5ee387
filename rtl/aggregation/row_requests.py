# SPDX-License-Identifier: BSD-2-Clause
"""Words of a panel that the sender reads: all of them, or the words that a send list names."""

from amaranth.hdl import Module, Mux, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from hypercast.rtl import isa
from hypercast.rtl.config import Config
from hypercast.rtl.isa import ROWS_WIDTH
from hypercast.rtl.layouts import Issue, send_record
from hypercast.rtl.lib.burst_reader import read_command

__all__ = ["RowRequests", "wanted_row"]


def wanted_row(config: Config) -> data.StructLayout:
    """Layout of what waits for a row's word: its destinations, and the plane as a flit has it."""
    return data.StructLayout({
        "destinations": unsigned(config.cores),
        "plane": unsigned((config.planes - 1).bit_length())})


class RowRequests(wiring.Component):
    """Commands the reader of an AGGREGATE's words.

    If the send list is not indexed, there is one command for all rows, and none with ``bypassed``.

    If it is, a position starts at the instruction's address. Each record first adds its ``skip``
    to it, modulo the channel's words. A record that has destinations then commands to read the
    word there, and its destinations and plane wait in a queue for the word. One that has none is
    dropped. A record is taken per cycle.

    The queue has room for all rows that the reader can have asked for, and for the command that it
    has and the one that it is offered. So it holds up no row: rows come as fast as rows of a
    panel, if a word comes within ``config.read_buffer`` - 3 cycles from its request.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        High for a cycle, while not ``busy``, when an AGGREGATE starts.
    issue : In(Issue), rows : In(ROWS_WIDTH)
        The instruction and its number of rows; valid with ``start``.
    records : In(stream of send_record(config))
        Records of an indexed list, from the cycle after ``start`` on. No others come here.
    command : Out(stream of read_command(config))
        To the reader; registered.
    wanted : Out(stream of wanted_row(config))
        What the words that are read are for, in their order; indexed lists only. The first one
        comes two cycles after its record.
    busy : Out(1)
        High while the queue has entries.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "issue": In(Issue),
            "rows": In(ROWS_WIDTH),
            "records": In(stream.Signature(send_record(config))),
            "command": Out(stream.Signature(read_command(config))),
            "wanted": Out(stream.Signature(wanted_row(config))),
            "busy": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        records, command, wanted = self.records, self.command, self.wanted
        layout = wanted_row(self._config)
        # A reader of single words asks for one more than its buffer, and has a command; there is
        # one on the way to it.
        m.submodules.queue = queue = SyncFIFOBuffered(
            width=layout.size, depth=self._config.read_buffer + 3)
        entry = data.View(layout, queue.w_data)
        has_destinations = records.p.destinations.any()
        m.d.comb += [
            entry.destinations.eq(records.p.destinations),
            entry.plane.eq(records.p.plane),
            queue.w_en.eq(records.valid & records.ready & has_destinations),
            records.ready.eq(queue.w_rdy & (~command.valid | command.ready)),
            wanted.p.as_value().eq(queue.r_data),
            wanted.valid.eq(queue.r_rdy),
            queue.r_en.eq(wanted.ready),
            self.busy.eq(queue.level != 0),
        ]

        # The command's address is the position, too: the address of the row asked for last.
        aggregate = self.issue.view(isa.Opcode.AGGREGATE)
        with m.If(command.ready):
            m.d.sync += command.valid.eq(0)
        with m.If(self.start):
            m.d.sync += [
                command.valid.eq(~aggregate.bypassed & ~aggregate.indexed),
                command.p.channel.eq(aggregate.channel),
                command.p.address.eq(aggregate.address),
                command.p.count.eq(Mux(aggregate.indexed, 1, self.rows)),
            ]
        with m.Elif(records.valid & records.ready):
            m.d.sync += [
                command.valid.eq(has_destinations),
                command.p.address.eq(command.p.address + records.p.skip),
            ]
        return m
