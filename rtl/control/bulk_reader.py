# SPDX-License-Identifier: BSD-2-Clause
"""Turns the read bursts of the bulk port into requests to cores, and answers to beats."""

from amaranth.hdl import Module, Mux, ResetInserter, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO, SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.control.bulk_burst import BEAT_PLACE, BEATS_WIDTH, BulkAxi, BulkBurst
from hypercast.rtl.layouts import BEAT_WIDTH, bulk_request, bulk_width
from hypercast.rtl.lib.unpacker import Unpacker
from hypercast.rtl.limits import BURST
from hypercast.rtl.memory.axi4 import Response
from hypercast.rtl.registers import Space

__all__ = ["BulkReader"]

#: Bursts that can be under way, and beats that can wait to be taken.
_BURSTS, _BEATS = 8, 256


class BulkReader(wiring.Component):
    """Asks for words in runs of up to ``BURST``, or for parts of words, and gives beats in order.

    It asks for no more than it has room for. A burst that ``BulkBurst`` does not allow, that is
    striped, or that begins with ``refuse``, gets SLVERR and zeros with every beat.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    axi : In(Axi4Read)
        Read channels of ``BulkAxi``.
    request : Out(stream of bulk_request(config))
        Requests; withdrawn with ``abort`` only.
    response, response_valid : In(bulk_width), In(1)
        The answers, in the order of requests to one core.
    refuse : In(1)
        Refuse bursts that begin.
    hold : In(1)
        Ask for nothing more.
    quiet : Out(1)
        All that was asked for has come.
    abort : In(1)
        What was asked for never comes: all bursts get SLVERR with zeros, and nothing is requested.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "axi": In(BulkAxi().members["read"].signature),
            "request": Out(stream.Signature(bulk_request(config))),
            "response": In(bulk_width(config)), "response_valid": In(1),
            "refuse": In(1), "hold": In(1), "quiet": Out(1), "abort": In(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        axi = self.axi
        width = bulk_width(self._config)
        beat_words = BEAT_WIDTH // width
        begun = data.StructLayout({"id": len(axi.arid), "length": 8, "error": 1})
        m.submodules.burst = burst = BulkBurst(self._config)
        m.submodules.bursts = bursts = SyncFIFO(width=begun.size, depth=_BURSTS)
        joined = Unpacker(width, BEAT_WIDTH)
        beats = SyncFIFOBuffered(width=BEAT_WIDTH, depth=_BEATS)
        m.submodules.joined = ResetInserter(self.abort)(joined)
        m.submodules.beats = ResetInserter(self.abort)(beats)
        asking, spoiled = Signal(), Signal()  # spoiled: bursts that have not ended get SLVERR
        taken = Signal()

        # Requests. A word of a beat is what one answer brings.
        place = Signal(BEAT_PLACE)
        address = Signal(BEATS_WIDTH + beat_words.bit_length() - 1)  # of the next
        left = Signal(range(256 * beat_words + 1))
        count = self._ask(m, place, address, left, asking, taken * beat_words)
        entry = data.View(begun, bursts.w_data)
        m.d.comb += [
            burst.address.eq(axi.araddr), burst.length.eq(axi.arlen), burst.size.eq(axi.arsize),
            burst.burst.eq(axi.arburst),
            axi.arready.eq(~asking & bursts.w_rdy & (self.abort | ~spoiled)),
            bursts.w_en.eq(axi.arvalid & axi.arready),
            entry.id.eq(axi.arid),
            entry.length.eq(axi.arlen),
            entry.error.eq(~burst.allowed | burst.place.striped | self.refuse | self.abort),
        ]
        with m.If(bursts.w_en):
            m.d.sync += [asking.eq(~entry.error), place.eq(burst.place),
                         address.eq(burst.place.beat * beat_words),
                         left.eq((axi.arlen + 1) * beat_words)]
        with m.Else():
            m.d.sync += [address.eq(address + count), left.eq(left - count)]
            with m.If(self.abort | (left == count)):
                m.d.sync += asking.eq(0)

        # Answers.
        m.d.comb += [
            joined.i.valid.eq(self.response_valid),
            joined.i.payload.eq(self.response),
            beats.w_en.eq(joined.o.valid),
            beats.w_data.eq(joined.o.payload),
            joined.o.ready.eq(1),
        ]
        first, sent, step = data.View(begun, bursts.r_data), Signal(8), Signal()
        error, last = first.error | spoiled, sent == first.length
        m.d.comb += [
            step.eq(bursts.r_rdy & (~axi.rvalid | axi.rready) & (error | beats.r_rdy)),
            taken.eq(step & ~error),
            beats.r_en.eq(taken),
            bursts.r_en.eq(step & last),
        ]
        with m.If(axi.rready):
            m.d.sync += axi.rvalid.eq(0)
        with m.If(step):
            m.d.sync += [
                axi.rvalid.eq(1), axi.rid.eq(first.id),
                axi.rdata.eq(Mux(error, 0, beats.r_data)), axi.rlast.eq(last),
                axi.rresp.eq(Mux(error, Response.SLVERR, Response.OKAY)),
                sent.eq(Mux(last, 0, sent + 1)),
            ]
        with m.If(self.abort):
            m.d.sync += spoiled.eq(1)
        with m.Elif(~asking & ~bursts.r_rdy):
            m.d.sync += spoiled.eq(0)
        return m

    def _ask(self, m: Module, place: data.View, address: Value, left: Signal, asking: Value,
             freed: Value) -> Signal:
        """Ask for some of the words that are left; returns for how many in this cycle.

        Answers of one kind and place may be under way, and come in order: runs of words of a
        channel, or rows of a weight bank.
        """
        config, request = self._config, self.request
        width = bulk_width(config)
        pieces, parts = width // 32, config.word_width // width
        capacity = _BEATS * (BEAT_WIDTH // width)
        room, under_way = Signal(range(capacity + 1), init=capacity), Signal(range(capacity + 1))
        bank = place.space == Space.WEIGHTS
        part_bits = (parts - 1).bit_length()
        words, whole = Signal(range(BURST + 1)), Signal()
        wanted, count, ask = Signal(range(BURST * parts + 1)), Signal.like(left), Signal()
        streams, same = Signal(), Signal()
        m.d.comb += [
            words.eq(Mux(left >> part_bits >= BURST, BURST, left >> part_bits)),
            whole.eq(~bank & (address[:part_bits] == 0) & (words != 0)),
            wanted.eq(Mux(whole, words << part_bits, 1)),
            same.eq(streams & (bank | whole) & (request.p.core == place.core)
                    & (request.p.space == place.space)),
            ask.eq(asking & (left != 0) & ~request.valid & ~self.hold & (room >= wanted)
                   & (self.quiet | same)),
            count.eq(Mux(ask, wanted, 0)),
            self.quiet.eq(under_way == 0),
        ]
        m.d.sync += [
            room.eq(room - count + freed),
            under_way.eq(under_way + count - self.response_valid),
        ]
        with m.If(request.ready):
            m.d.sync += request.valid.eq(0)
        with m.If(ask):
            m.d.sync += [
                request.valid.eq(1),
                request.p.core.eq(place.core),
                request.p.space.eq(place.space),
                request.p.address.eq(address * pieces),
                request.p.bulk.eq(1),
                request.p.data.eq(Mux(whole, words, 0)),
                streams.eq(bank | whole),
            ]
        with m.If(self.abort):
            m.d.sync += [request.valid.eq(0), room.eq(capacity), under_way.eq(0)]
        return count
