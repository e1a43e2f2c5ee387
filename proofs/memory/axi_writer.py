# SPDX-License-Identifier: BSD-2-Clause
"""The writer of AXI4."""

from unittest.mock import patch

from amaranth.hdl import Assert, Assume, Cat, Const, Module, Mux, Signal
from amaranth.lib import data

from hypercast.proofs.configuration import small
from hypercast.proofs.followed import Followed
from hypercast.proofs.inside import Inside
from hypercast.proofs.lib.fifo import assert_fifo, place
from hypercast.proofs.proof import Proof
from hypercast.proofs.requested import Requested
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import Handshake, constant, is_held, past
from hypercast.rtl.limits import BURST, OUTSTANDING
from hypercast.rtl.memory import axi_writer
from hypercast.rtl.memory.axi4 import BOUNDARY, Response, offset_width

__all__ = ["PROOFS"]

#: Two areas of 4 KiB, in words of 32 bits.
_CONFIG = small(channel_words=2048)
#: Words and runs that can wait: enough for one to be sent while another is gathered.
_DEPTH = 4


def _bench() -> Bench:
    """Every word is written once, in order, at its address, and ``idle`` tells when all are."""
    m = Module()
    dut = axi_writer.AxiWriter(_CONFIG, offset_width(_CONFIG) + 2)
    with patch.multiple(axi_writer, _DEPTH=_DEPTH, _PATIENCE=2):
        inside = Inside(m, dut)
    write, axi, most = dut.write, dut.axi, OUTSTANDING
    constant(m, dut.base)
    size = (_CONFIG.word_width // 8).bit_length() - 1
    words = BOUNDARY >> size
    given, base = axi.awaddr[size:offset_width(_CONFIG)], axi.awaddr[offset_width(_CONFIG):]
    bursts = Handshake(valid=axi.awvalid, ready=axi.awready,
                       payload=Cat(axi.awaddr, axi.awlen))
    beats = Handshake(valid=axi.wvalid, ready=axi.wready,
                      payload=Cat(axi.wdata, axi.wlast))
    taken, accepted = write.valid & write.ready, axi.awvalid & axi.awready
    sent, ended = axi.wvalid & axi.wready, axi.wvalid & axi.wready & axi.wlast
    asked = Requested(
        m, _CONFIG, enters=taken, address=write.p.address, count=Const(1, 1),
        tag=dut.base[offset_width(_CONFIG):], leaves=accepted, given=given,
        length=(axi.awlen + 1)[:8], given_tag=base)
    followed = Followed(m, _DEPTH + 1, enters=taken, word=write.p.data, leaves=sent)
    # Bursts accepted, and bursts sent, that are not acknowledged.
    granted, complete = Signal(range(most + 2)), Signal(range(most + 2))
    m.d.sync += [granted.eq(granted + accepted - axi.bvalid),
                 complete.eq(complete + ended - axi.bvalid)]
    m.d.comb += [
        Assume(is_held(m, write)),
        Assume(~axi.bvalid | ((granted != 0) & (complete != 0))),
        Assert(is_held(m, bursts)), Assert(is_held(m, beats)), Assert(axi.awaddr[:size] == 0),
        Assert(~axi.awvalid | (axi.awlen < BURST)), Assert(granted + axi.awvalid <= most),
        Assert(~axi.awvalid | (given[:words.bit_length() - 1] + axi.awlen < words)),
        Assert(~(axi.wvalid & followed.next) | (axi.wdata == followed.word)),
        Assert(dut.idle == ((asked.due == 0) & (followed.count == 0) & (granted == 0))),
        Assert(dut.fault == past(m, axi.bvalid & (axi.bresp != Response.OKAY))),
        Assert(dut.unfinished == (granted + axi.awvalid != 0)),
        Assert(~past(m, dut.quiesce) | ~axi.awvalid | past(m, axi.awvalid & ~axi.awready)),
    ]

    # The invariant: words belong to the burst on its way, the runs that wait, and the last run.
    layout = data.StructLayout({"start": _CONFIG.address_width, "beats": range(BURST + 1)})
    run, left = data.View(layout, inside.signal("run")), inside.signal("left")
    following, level = inside.signal("following"), inside.signal("runs.level")
    consume = inside.signal("runs.consume")
    offered = Mux(axi.awvalid, axi.awlen + 1, 0)
    before, places = offered, []
    for index in range(_DEPTH):
        one = data.View(layout, inside.word("runs.storage", place(consume, index, _DEPTH)))
        there = index < level
        end = Signal(8, name=f"end_{index}")
        m.d.comb += [
            end.eq(before + Mux(there, one.beats, 0)),
            Assert(~there | ((one.beats != 0) & (one.beats <= BURST))),
            Assert(~there | (one.start[:words.bit_length() - 1] + one.beats <= words)),
        ]
        places.append((before, end, one))
        before = end
    m.d.comb += [
        Assert(asked.due == before + run.beats), Assert(run.beats <= BURST),
        Assert(inside.signal("words.level") == left + (before - offered)[:8] + run.beats),
        Assert(followed.count == inside.signal("words.level") + axi.wvalid),
        Assert(inside.signal("outstanding") == granted + axi.awvalid),
        Assert(granted + axi.awvalid == complete + (left != 0) + (axi.wvalid & axi.wlast)),
        Assert(~axi.wvalid | axi.wlast | (left != 0)), Assert(left <= BURST),
        Assert((run.beats == 0) | (following == (run.start + run.beats)[:len(following)])),
        Assert((run.beats == 0)
               | (run.start[:words.bit_length() - 1] + run.beats <= words)),
    ]
    with m.If(asked.active):
        with m.If(asked.ahead < offered):
            m.d.comb += asked.check(given, asked.ahead, base)
        for start, end, one in places:
            with m.If((asked.ahead >= start) & (asked.ahead < end)):
                m.d.comb += asked.check(one.start, asked.ahead - start,
                                        dut.base[offset_width(_CONFIG):])
        with m.If(asked.ahead >= before):
            m.d.comb += asked.check(run.start, asked.ahead - before,
                                    dut.base[offset_width(_CONFIG):])
    with m.If(axi.wvalid & followed.next):
        m.d.comb += Assert(axi.wdata == followed.word)
    assert_fifo(m, inside, "words.", _DEPTH, followed, (followed.ahead - axi.wvalid)[:3])
    pointers = Followed(m, _DEPTH, enters=inside.signal("ends"), word=inside.signal("run"),
                        leaves=inside.signal("start"))
    m.d.comb += [Assume(~pointers.choose), Assert(~pointers.active),
                 Assert(pointers.count == level)]
    assert_fifo(m, inside, "runs.", _DEPTH, pointers)
    return Bench(
        m, [*asked.choices, followed.choose, pointers.choose, dut.base, write.valid, write.payload,
            axi.awready, axi.wready, axi.bvalid, axi.bresp, dut.quiesce],
        [asked.active & (asked.ahead == 2), axi.awvalid & (axi.awlen == 2), dut.fault,
         past(m, ~dut.idle) & dut.idle, granted == 2])


PROOFS = [
    Proof(block="axi_writer", size="4 words and 4 runs can wait", bench=_bench, slow=True,
          claim="writes each word once, in order, at its address; tells when all is acknowledged; "
                "begins no burst when it is to quiesce"),
]
