# SPDX-License-Identifier: BSD-2-Clause
"""Turns the write bursts of the bulk port into requests to cores."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.control.bulk_burst import BEAT_PLACE, BulkAxi, BulkBurst
from hypercast.rtl.layouts import BEAT_WIDTH, bulk_request, bulk_width
from hypercast.rtl.lib.skid_buffer import SkidBuffer
from hypercast.rtl.memory.axi4 import Response
from hypercast.rtl.registers import Space

__all__ = ["BulkWriter"]

#: Bursts that can wait for their response.
_BURSTS = 8


class BulkWriter(wiring.Component):
    """Sends a beat's words, or the part of a word that it has, one per cycle.

    A burst gets its response when all that it wrote is visible. It gets SLVERR, and what follows in
    it is not written,

    - from its beginning if ``BulkBurst`` does not allow it, or with ``refuse`` if it is to a weight
      bank,
    - from a word on that has some of its strobes high and some low,
    - from a beat on that does not begin a word and does not follow the one before it in the word,
      in this burst or the last.

    A word with all strobes low, narrower than a beat, is left as it is.

    Words of a striped burst go to the cores in turn (``registers.striped_address``).

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    axi : In(Axi4Write)
        Write channels of ``BulkAxi``.
    request : Out(stream of bulk_request(config))
        Requests; withdrawn with ``abort`` only.
    refuse : In(1)
        Refuse bursts to weight banks that begin.
    settled : In(1)
        Nothing of what was requested is on its way; low from the cycle after a request.
    abort : In(1)
        What is on its way never arrives: all bursts get SLVERR, and nothing is requested.
    waits : Out(1)
        Bursts wait for ``settled``.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "axi": In(BulkAxi().members["write"].signature),
            "request": Out(stream.Signature(bulk_request(config))),
            "refuse": In(1), "settled": In(1), "abort": In(1), "waits": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config, axi, request = self._config, self.axi, self.request
        width = bulk_width(config)
        beat_words, parts = BEAT_WIDTH // width, config.word_width // width
        part_bits, piece_bits = (parts - 1).bit_length(), (width // 32 - 1).bit_length()
        ended = data.StructLayout({"id": len(axi.awid), "error": 1})
        m.submodules.burst = burst = BulkBurst(config)
        m.submodules.beats = beats = SkidBuffer(data.StructLayout({
            "data": BEAT_WIDTH, "strobes": BEAT_WIDTH // 8, "last": 1}))
        m.submodules.bursts = bursts = SyncFIFO(width=ended.size, depth=_BURSTS)
        place, wrong, done = Signal(BEAT_PLACE), Signal(), data.View(ended, bursts.w_data)
        spoiled = Signal()  # bursts that have not ended get SLVERR
        receiving, identity = Signal(), Signal.like(axi.awid)  # a burst, and its ID
        beat = beats.o.p
        word = Signal(range(beat_words))

        # A word, or a part of one, at a time.
        strobes = beat.strobes.word_select(word, width // 8)
        follows, following = Signal(), Signal(BEAT_PLACE)
        # Its number, a word's parts counted, in what the burst goes to: all cores, or one.
        number = Cat(word, place.beat)
        part, core, row = (number[:part_bits], number[part_bits:][:config.dimensions],
                           number[part_bits + config.dimensions:])
        in_order = (part == 0) | (follows & (place == following))
        bad, skipped, step = Signal(), Signal(), Signal()
        m.d.comb += [
            skipped.eq(~strobes.any() if beat_words > 1 else 0),
            bad.eq(wrong | self.abort | ~((strobes.all() | skipped) & in_order)),
            request.valid.eq(receiving & beats.o.valid & ~bad & ~skipped),
            request.p.core.eq(Mux(place.striped, core, place.core)),
            request.p.space.eq(place.space),
            request.p.address.eq(Mux(place.striped, Cat(part, row), number) << piece_bits),
            request.p.write.eq(1),
            request.p.bulk.eq(1),
            request.p.data.eq(beat.data.word_select(word, width)),
            step.eq(receiving & beats.o.valid & (~request.valid | request.ready)),
            beats.o.ready.eq(step & (word == beat_words - 1)),
            beats.i.valid.eq(axi.wvalid),
            beats.i.p.data.eq(axi.wdata),
            beats.i.p.strobes.eq(axi.wstrb),
            beats.i.p.last.eq(axi.wlast),
            axi.wready.eq(beats.i.ready),
            done.id.eq(identity),
            done.error.eq(bad),
        ]
        with m.If(step):
            m.d.sync += [wrong.eq(bad), word.eq(word + 1)]
        with m.If(beats.o.valid & beats.o.ready):
            m.d.sync += [place.beat.eq(place.beat + 1), follows.eq(~bad), following.eq(place),
                         following.beat.eq(place.beat + 1)]

        m.d.comb += [
            burst.address.eq(axi.awaddr), burst.length.eq(axi.awlen), burst.size.eq(axi.awsize),
            burst.burst.eq(axi.awburst),
            axi.awready.eq(~receiving & bursts.w_rdy & (self.abort | ~spoiled)),
            bursts.w_en.eq(beats.o.valid & beats.o.ready & beat.last),
        ]
        with m.If(axi.awvalid & axi.awready):
            m.d.sync += [
                receiving.eq(1), place.eq(burst.place), identity.eq(axi.awid),
                wrong.eq(~burst.allowed | self.abort
                         | (self.refuse & (burst.place.space == Space.WEIGHTS))),
            ]
        with m.Elif(bursts.w_en):
            m.d.sync += receiving.eq(0)

        # Responses: of all bursts that had ended when what they requested had settled.
        first, released = data.View(ended, bursts.r_data), Signal.like(bursts.level)
        respond = Signal()
        m.d.comb += [
            respond.eq((released != 0) & (~axi.bvalid | axi.bready)),
            bursts.r_en.eq(respond),
            self.waits.eq(bursts.level != released),
        ]
        m.d.sync += released.eq(Mux(self.settled | spoiled, bursts.level, released) - respond)
        with m.If(axi.bready):
            m.d.sync += axi.bvalid.eq(0)
        with m.If(respond):
            m.d.sync += [
                axi.bvalid.eq(1), axi.bid.eq(first.id),
                axi.bresp.eq(Mux(first.error | spoiled, Response.SLVERR, Response.OKAY)),
            ]
        with m.If(self.abort):
            m.d.sync += [spoiled.eq(1), follows.eq(0)]
        with m.Elif(~receiving & (bursts.level == 0)):
            m.d.sync += spoiled.eq(0)
        return m
