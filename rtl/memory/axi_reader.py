# SPDX-License-Identifier: BSD-2-Clause
"""Turns a channel's read requests into AXI4 bursts."""

from amaranth.hdl import Module, Mux, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import Channel
from hypercast.rtl.lib.skid_buffer import SkidBuffer
from hypercast.rtl.limits import OUTSTANDING
from hypercast.rtl.memory.axi4 import BOUNDARY, Axi4Read, Response, byte_address

__all__ = ["AxiReader"]


class AxiReader(wiring.Component):
    """Asks for each request in one burst, or in two if it crosses a 4 KiB boundary.

    One burst is issued per cycle, up to 64 are under way, and one word moves per cycle; latency
    is the memory's plus two cycles. All bursts have the same ID, so that their words come in
    order. A request for a single word is a burst, too, so at most 64 single words come in the time
    of a round trip.

    Parameters
    ----------
    config : Config
        Configuration.
    address_width : int
        Bits of a byte address.

    Members
    -------
    request, data : In(stream), Out(stream)
        ``read_request`` and ``read_data`` of ``Channel``. Words of a failed burst are passed on
        as they come.
    base : In(address_width)
        Byte address of word 0, a multiple of the channel's size; does not change.
    axi : Out(Axi4Read)
        The memory. All outputs come straight from registers.
    fault : Out(1)
        High for a cycle after a response other than OKAY.
    quiesce : In(1)
        From then on no burst is issued, and what comes is dropped; stays until the reset.
    unfinished : Out(1)
        Bursts are under way.
    """

    def __init__(self, config: Config, address_width: int) -> None:
        self._config = config
        channel = Channel(config).members
        super().__init__({
            "request": channel["read_request"].flip(),
            "data": channel["read_data"].flip(),
            "base": In(address_width),
            "axi": Out(Axi4Read(address_width, config.word_width)),
            "fault": Out(1),
            "quiesce": In(1),
            "unfinished": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        axi, request = self.axi, self.request
        boundary = BOUNDARY * 8 // self._config.word_width  # in words, a power of two
        offset_width = boundary.bit_length() - 1

        # What a request has left beyond a boundary comes before the next request.
        rest = Signal.like(request.p.length)
        rest_address = Signal.like(request.p.address)
        address = Mux(rest == 0, request.p.address, rest_address)
        length = Mux(rest == 0, request.p.length, rest)
        reach = Signal(range(2 * boundary))  # of the burst, counted from the last boundary
        beyond = Signal.like(rest)
        outstanding = Signal(range(OUTSTANDING + 1))
        free = Signal()
        issue = Signal()
        m.d.comb += [
            reach.eq(address[:offset_width] + length),
            beyond.eq(Mux(reach[offset_width], reach[:offset_width], 0)),
            free.eq((~axi.arvalid | axi.arready) & (outstanding != OUTSTANDING) & ~self.quiesce),
            issue.eq(free & (request.valid | (rest != 0))),
            request.ready.eq(free & (rest == 0)),
        ]
        with m.If(axi.arready):
            m.d.sync += axi.arvalid.eq(0)
        with m.If(issue):
            m.d.sync += [
                axi.arvalid.eq(1),
                axi.araddr.eq(byte_address(self._config, self.base, address)),
                axi.arlen.eq(length - beyond - 1),
                rest.eq(beyond),
                rest_address.eq(address + length - beyond),
            ]

        words = SkidBuffer(self._config.word_width)
        m.submodules.words = ResetInserter(self.quiesce)(words)
        wiring.connect(m, words.o, wiring.flipped(self.data))
        m.d.comb += [
            words.i.valid.eq(axi.rvalid),
            words.i.payload.eq(axi.rdata),
            axi.rready.eq(words.i.ready),
            self.unfinished.eq(outstanding != 0),
        ]
        arrived = axi.rvalid & axi.rready
        m.d.sync += [
            outstanding.eq(outstanding + issue - (arrived & axi.rlast)),
            self.fault.eq(arrived & (axi.rresp != Response.OKAY)),
        ]
        return m
