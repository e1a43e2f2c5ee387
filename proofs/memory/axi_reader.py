# SPDX-License-Identifier: BSD-2-Clause
"""The reader of AXI4."""

from amaranth.hdl import Assert, Assume, Cat, Module, Mux, Signal, Value

from hypercast.proofs.configuration import small
from hypercast.proofs.followed import Followed
from hypercast.proofs.inside import Inside
from hypercast.proofs.lib.skid_buffer import assert_skid_buffer
from hypercast.proofs.proof import Proof
from hypercast.proofs.requested import Requested
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import Handshake, constant, is_held, past
from hypercast.rtl.limits import BURST, OUTSTANDING
from hypercast.rtl.memory.axi4 import BOUNDARY, Response, offset_width
from hypercast.rtl.memory.axi_reader import AxiReader

__all__ = ["PROOFS"]

#: Two areas of 4 KiB, in words of 32 bits.
_CONFIG = small(channel_words=2048)
_ADDRESS_WIDTH = offset_width(_CONFIG) + 2


def _between() -> tuple[AxiReader, Module, Inside, list[Value]]:
    """A reader among requests that keep the rules; block, module, its inside, and free inputs."""
    m = Module()
    dut = AxiReader(_CONFIG, _ADDRESS_WIDTH)
    request = dut.request
    constant(m, dut.base)
    m.d.comb += [
        Assume(is_held(m, request)), Assume((request.p.length != 0) & (request.p.length <= BURST)),
        Assume(request.p.address + request.p.length <= _CONFIG.channel_words),
    ]
    axi = dut.axi
    return dut, m, Inside(m, dut), [
        dut.base, request.valid, request.payload, dut.data.ready, axi.arready, axi.rvalid,
        axi.rdata, axi.rresp, axi.rlast]


def _asks() -> Bench:
    dut, m, inside, inputs = _between()
    request, axi = dut.request, dut.axi
    size = (_CONFIG.word_width // 8).bit_length() - 1
    words = BOUNDARY >> size
    given, base = axi.araddr[size:offset_width(_CONFIG)], axi.araddr[offset_width(_CONFIG):]
    asked = Requested(
        m, _CONFIG, enters=request.valid & request.ready, address=request.p.address,
        count=request.p.length, tag=dut.base[offset_width(_CONFIG):],
        leaves=axi.arvalid & axi.arready, given=given, length=(axi.arlen + 1)[:8], given_tag=base)
    burst = Handshake(valid=axi.arvalid, ready=axi.arready,
                      payload=Cat(axi.araddr, axi.arlen))
    m.d.comb += [
        Assert(is_held(m, burst)), Assert(axi.araddr[:size] == 0),
        Assert(~axi.arvalid | (axi.arlen < BURST)),
        Assert(~axi.arvalid | (given[:words.bit_length() - 1] + axi.arlen < words)),
    ]
    rest, rest_address = inside.signal("rest"), inside.signal("rest_address")
    offered = Mux(axi.arvalid, axi.arlen + 1, 0)
    m.d.comb += [
        Assert(asked.due == offered + rest), Assert(rest < BURST),
        Assert(rest_address + rest <= _CONFIG.channel_words),
        Assert((rest == 0) | (rest_address[:words.bit_length() - 1] == 0)),
    ]
    with m.If(asked.active):
        with m.If(asked.ahead < offered):
            m.d.comb += asked.check(given, asked.ahead, base)
        with m.Else():
            m.d.comb += asked.check(rest_address, asked.ahead - offered,
                                    dut.base[offset_width(_CONFIG):])
    return Bench(m, [*asked.choices, *inputs], [
        asked.active & (rest != 0), asked.active & (asked.ahead == BURST - 1)])


def _counts() -> Bench:
    dut, m, inside, inputs = _between()
    request, axi = dut.request, dut.axi
    most = OUTSTANDING
    under_way = Signal(range(most + 2))  # bursts accepted whose last word has not come
    arrives = axi.rvalid & axi.rready
    offered = under_way + axi.arvalid
    m.d.sync += under_way.eq(
        under_way + (axi.arvalid & axi.arready) - (arrives & axi.rlast))
    m.d.comb += [
        Assume(~axi.rvalid | (under_way != 0)),
        Assert(offered <= most), Assert(inside.signal("outstanding") == offered),
        Assert(dut.fault == past(m, arrives & (axi.rresp != Response.OKAY))),
        # It waits for nothing else.
        Assert(request.ready | (inside.signal("rest") != 0) | (axi.arvalid & ~axi.arready)
               | (offered == most)),
    ]
    return Bench(m, inputs, [
        (under_way == 3) & axi.rvalid & axi.rlast, dut.fault, inside.signal("rest") != 0])


def _delivers() -> Bench:
    dut, m, inside, inputs = _between()
    axi = dut.axi
    followed = Followed(m, 2, enters=axi.rvalid & axi.rready, word=axi.rdata,
                        leaves=dut.data.valid & dut.data.ready)
    m.d.comb += [Assert(is_held(m, dut.data)), Assert(dut.data.valid == (followed.count != 0)),
                 Assert(axi.rready == (followed.count != 2)),
                 Assert(~followed.next | (dut.data.payload == followed.word))]
    assert_skid_buffer(m, inside, "words.", dut.data.valid, dut.data.payload, followed)
    return Bench(m, [followed.choose, *inputs], [followed.active & (followed.ahead == 1)])


def _quiesces() -> Bench:
    dut, m, inside, inputs = _between()
    axi = dut.axi
    under_way = Signal(range(OUTSTANDING + 2))
    m.d.sync += under_way.eq(
        under_way + (axi.arvalid & axi.arready) - (axi.rvalid & axi.rready & axi.rlast))
    asked = past(m, dut.quiesce)
    burst = Handshake(valid=axi.arvalid, ready=axi.arready,
                      payload=Cat(axi.araddr, axi.arlen))
    m.d.comb += [
        Assume(~axi.rvalid | (under_way != 0)), Assume(~asked | dut.quiesce),
        Assert(under_way + axi.arvalid <= OUTSTANDING),
        Assert(inside.signal("outstanding") == under_way + axi.arvalid),
        Assert(dut.unfinished == (under_way + axi.arvalid != 0)), Assert(is_held(m, burst)),
        Assert(~asked | axi.rready), Assert(~asked | ~axi.arvalid | past(m, axi.arvalid)),
    ]
    return Bench(m, [dut.quiesce, *inputs], [
        asked & axi.arvalid, asked & past(m, dut.unfinished) & ~dut.unfinished])


PROOFS = [
    Proof(block="axi_reader", bench=_asks,
          claim="asks for each word once, in order, in bursts that cross no 4 KiB; holds them"),
    Proof(block="axi_reader", bench=_counts,
          claim="has at most 64 bursts under way, waits for nothing else, reports every fault"),
    Proof(block="axi_reader", bench=_quiesces,
          claim="when it is to quiesce, asks for nothing more and takes all that is under way"),
    Proof(block="axi_reader", bench=_delivers, claim="delivers the words that come, in order"),
]
