# SPDX-License-Identifier: BSD-2-Clause
"""The bulk port: AXI4 bursts to and from the cores' memories, beside the window."""

from amaranth.hdl import Module, Mux, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl.config import Config
from hypercast.rtl.control.bulk_burst import BulkAxi
from hypercast.rtl.control.bulk_host import ROOM
from hypercast.rtl.control.bulk_reader import BulkReader
from hypercast.rtl.control.bulk_writer import BulkWriter
from hypercast.rtl.control.window import TIMEOUT
from hypercast.rtl.layouts import HostRequest, bulk_request, bulk_width
from hypercast.rtl.lib.stream_merge import StreamMerge
from hypercast.rtl.registers import Space

__all__ = ["BulkPort"]


class BulkPort(wiring.Component):
    """Sends the cores requests of bursts and of the window, never more than they have room for.

    While a program runs, all bursts are refused but writes to memory channels. These come
    after what engines write, and it is for the host to write only what the program does not use.
    Striped bursts disturb engines least, since they take a cycle of each core in turn. While the
    cores are reset, all are refused. A reset ends bursts that have begun with SLVERR. So does a
    standstill of ``window.TIMEOUT`` cycles without a program; bursts are then refused until the
    next reset. The window's accesses to a core wait for the bursts' before them.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    axi : In(BulkAxi)
        The host.
    running, resetting : In(1)
        A program is running; the cores are being reset.
    window, window_valid : In(HostRequest), In(1)
        The window's request to a core, as ``HostPort`` gives it.
    window_response, window_response_valid : Out(32), Out(1)
        The answer, as ``HostPort`` expects it.
    request, request_valid : Out(bulk_request(config)), Out(1)
        To all cores, see ``BulkHost``. Registered.
    taken : In(range(cores + 1))
        By how many cores a request was ``taken``.
    settled : In(1)
        Whether it is in all cores; not ahead of ``taken``.
    response, response_valid : In(bulk_width), In(1)
        Answers of the cores, each signal ORed over all of them.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "axi": In(BulkAxi()),
            "running": In(1), "resetting": In(1),
            "window": In(HostRequest), "window_valid": In(1),
            "window_response": Out(32), "window_response_valid": Out(1),
            "request": Out(bulk_request(config)), "request_valid": Out(1),
            "taken": In(range(config.cores + 1)), "settled": In(1),
            "response": In(bulk_width(config)), "response_valid": In(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        layout, width = bulk_request(self._config), bulk_width(self._config)
        m.submodules.writer = writer = BulkWriter(self._config)
        m.submodules.reader = reader = BulkReader(self._config)
        connect(m, flipped(self.axi.write), writer.axi)
        connect(m, flipped(self.axi.read), reader.axi)
        abort, failed = Signal(), Signal()
        merge = StreamMerge(layout, 3)
        m.submodules.merge = ResetInserter(abort)(merge)
        connect(m, writer.request, merge.i[0])
        connect(m, reader.request, merge.i[1])

        # The window's access, which has the answers to itself.
        active, sent = Signal(), Signal()
        piece = Mux(self.window.space == Space.CORE, 0,
                    self.window.address[:(width // 32 - 1).bit_length()])
        window = merge.i[2]
        m.d.comb += [
            *(getattr(window.p, name).eq(getattr(self.window, name))
              for name in ("core", "all_cores", "space", "address", "write")),
            window.p.data.eq(self.window.data.replicate(width // 32)),
            window.valid.eq(active & ~sent & reader.quiet),
            reader.hold.eq(active),
            self.window_response.eq(self.response.word_select(piece, 32)),
            self.window_response_valid.eq(self.response_valid & sent),
            reader.response.eq(self.response),
            reader.response_valid.eq(self.response_valid & ~sent),
        ]

        # What the cores have room for; all of them, for what is sent to all.
        room, send, idle = Signal(range(ROOM + 1), init=ROOM), Signal(), Signal()
        every, roomy = merge.o.p.all_cores, Signal()
        m.d.comb += [
            roomy.eq(Mux(every, room == ROOM, room != 0)),
            send.eq(merge.o.valid & roomy),
            merge.o.ready.eq(roomy),
            idle.eq(~merge.o.valid & (room == ROOM)),
            writer.settled.eq(idle & self.settled),
        ]
        m.d.sync += [
            self.request_valid.eq(send & ~abort),
            room.eq(Mux(abort, ROOM, room - (send & ~every) + self.taken)),
        ]
        with m.If(send):
            m.d.sync += self.request.eq(merge.o.p)

        # Nothing waits for ever. Engines may, for longer than a time-out, and have a watchdog.
        waited, expired, stuck = Signal(range(TIMEOUT)), Signal(), Signal()
        m.d.comb += [
            stuck.eq((~idle | ~reader.quiet | writer.waits) & ~self.running),
            expired.eq(waited == TIMEOUT - 1),
            abort.eq(self.resetting | failed),
        ]
        m.d.sync += waited.eq(Mux(
            (stuck | active) & ~abort & (self.taken == 0) & ~self.response_valid, waited + 1, 0))
        with m.If(self.resetting):
            m.d.sync += failed.eq(0)
        with m.Elif(expired & stuck):
            m.d.sync += failed.eq(1)
        with m.If(self.window_valid):
            m.d.sync += [active.eq(1), sent.eq(0), waited.eq(0)]
        with m.Elif(abort | expired | self.window_response_valid):
            m.d.sync += [active.eq(0), sent.eq(0)]
        with m.Elif(window.valid & window.ready):
            m.d.sync += sent.eq(1)
        for half in (writer, reader):
            m.d.comb += [half.refuse.eq(self.running), half.abort.eq(abort)]
        return m
