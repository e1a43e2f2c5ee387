# SPDX-License-Identifier: BSD-2-Clause
"""The reader of runs of words in bursts."""

from functools import partial

from amaranth.hdl import Assert, Assume, Module, Mux, Signal
from amaranth.lib import data

from hypercast.proofs.configuration import small
from hypercast.proofs.followed import Followed
from hypercast.proofs.inside import Inside
from hypercast.proofs.lib.fifo import assert_buffered_fifo
from hypercast.proofs.proof import Proof
from hypercast.proofs.requested import Requested
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import is_held
from hypercast.rtl.lib.burst_reader import BurstReader, read_command
from hypercast.rtl.limits import BURST

__all__ = ["PROOFS"]


def _bench(read_buffer: int) -> Bench:
    """Each word of each command is requested once, in order; there is room for it when it comes."""
    m = Module()
    config = small(read_buffer=read_buffer, channel_words=64)
    burst = min(BURST, read_buffer)
    depth = read_buffer + burst
    dut = BurstReader(config)
    inside = Inside(m, dut)
    command, request, words = dut.command, dut.port.request, dut.port.data
    accepted = request.valid & request.ready
    arrives, leaves = words.valid & words.ready, dut.o.valid & dut.o.ready
    under_way = Signal(range(depth + 1))
    m.d.sync += under_way.eq(under_way + Mux(accepted, request.p.length, 0) - arrives)
    followed = Followed(m, depth, enters=arrives, word=words.payload, leaves=leaves)
    m.d.comb += [
        Assume(is_held(m, command)), Assume(command.p.count <= config.channel_words),
        Assume(~words.valid | (under_way != 0)),
        Assert(is_held(m, request)), Assert(is_held(m, dut.o)), Assert(words.ready),
        Assert(~request.valid | ((request.p.length != 0) & (request.p.length <= burst))),
        Assert(~(dut.o.valid & followed.next) | (dut.o.payload == followed.word)),
    ]
    todo = data.View(read_command(config), inside.signal("todo"))
    reserved = inside.signal("reserved")
    offered = Mux(request.valid, request.p.length, 0)
    asked = Requested(
        m, config, enters=command.valid & command.ready, address=command.p.address,
        count=command.p.count, tag=command.p.channel, leaves=accepted,
        given=request.p.address, length=request.p.length, given_tag=request.p.channel)
    m.d.comb += [
        Assert(todo.count <= config.channel_words),
        Assert(asked.due == offered + todo.count),
        Assert(reserved == offered + under_way + followed.count), Assert(reserved <= depth),
        Assert(dut.busy == ((asked.due != 0) | (under_way + followed.count != 0))),
        Assert(~words.valid | inside.signal("queue.w_rdy")),
    ]
    with m.If(asked.active):
        with m.If(asked.ahead < offered):
            m.d.comb += asked.check(request.p.address, asked.ahead, request.p.channel)
        with m.Else():
            m.d.comb += asked.check(todo.address, asked.ahead - offered, todo.channel)
    assert_buffered_fifo(m, inside, "queue.", depth, followed)
    return Bench(
        m, [followed.choose, *asked.choices, command.valid, command.payload, request.ready,
            words.valid, words.payload, dut.o.ready],
        [reserved == depth, asked.active & (asked.ahead > burst),
         request.valid & ~request.ready & (todo.count != 0)])


PROOFS = [
    Proof(block="burst_reader", size=f"room for {read_buffer} words",
          bench=partial(_bench, read_buffer),
          claim="asks for each word of each command once, in order, with room; loses none")
    for read_buffer in (4, 8)
]
