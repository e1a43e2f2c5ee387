# SPDX-License-Identifier: BSD-2-Clause
"""What asks for the words of an AGGREGATE."""

from functools import partial

from amaranth.hdl import Assert, Assume, Cat, Module, Mux, Signal, Value

from hypercast.proofs.configuration import small
from hypercast.proofs.followed import Followed
from hypercast.proofs.inside import Inside
from hypercast.proofs.lib.fifo import assert_buffered_fifo
from hypercast.proofs.proof import Proof
from hypercast.proofs.requested import Requested
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import is_held
from hypercast.rtl import isa
from hypercast.rtl.aggregation.row_requests import RowRequests

__all__ = ["PROOFS"]


def _bench(limited: bool) -> Bench:
    """Each row is asked for once, in order; what it is for waits until its word has come.

    With ``limited``, the reader has commands for at most as many words as it has room for.
    """
    m = Module()
    config = small(dimensions=1, planes=2, read_buffer=4, channel_words=64)
    depth = config.read_buffer + 3
    dut = RowRequests(config)
    inside = Inside(m, dut)
    records, command, wanted = dut.records, dut.command, dut.wanted
    aggregate = dut.issue.view(isa.Opcode.AGGREGATE)
    taken = records.valid & records.ready
    accepted, leaves = command.valid & command.ready, wanted.valid & wanted.ready
    indexed, channel = Signal(), Signal()  # of the instruction under way
    position = Signal(config.address_width)
    named = (position + records.p.skip)[:config.address_width]
    with m.If(dut.start):
        m.d.sync += [indexed.eq(aggregate.indexed), channel.eq(aggregate.channel),
                     position.eq(aggregate.address)]
    with m.Elif(taken):
        m.d.sync += position.eq(named)
    under_way = Signal(range(depth + 2))  # rows commanded whose words have not been taken
    m.d.sync += under_way.eq(under_way + (accepted & indexed) - leaves)
    m.d.comb += [
        Assume(~dut.start | ~(dut.busy | (command.valid & ~command.ready))),
        Assume(~(aggregate.indexed & aggregate.bypassed)), Assume(dut.rows <= config.channel_words),
        Assume(is_held(m, records)), Assume(~records.valid | (indexed & ~dut.start)),
        Assume(~wanted.ready | (under_way != 0)),
        Assert(is_held(m, command)), Assert(is_held(m, wanted)),
    ]
    enters = taken & records.p.destinations.any()
    whole = dut.start & ~aggregate.indexed & ~aggregate.bypassed
    followed = Followed(
        m, depth, enters=enters, word=Cat(records.p.destinations, records.p.plane[:1]),
        leaves=leaves)
    asked = Requested(
        m, config, enters=enters | whole, leaves=accepted,
        address=Mux(whole, aggregate.address[:config.address_width], named),
        count=Mux(whole, dut.rows[:command.p.count.shape().width], 1),
        tag=Mux(whole, aggregate.channel, channel),
        given=command.p.address, length=command.p.count, given_tag=command.p.channel)
    waits = Value.cast(wanted.payload)
    m.d.comb += [
        Assert(~(wanted.valid & followed.next) | (waits == followed.word)),
        Assert(dut.busy == (followed.count != 0)),
        Assert(followed.count == Mux(indexed, under_way + command.valid, 0)),
        Assert(indexed | (under_way == 0)),
        Assert(asked.due == Mux(command.valid, command.p.count, 0)),
        Assert(~indexed | ((command.p.address == position) & (command.p.count == 1))),
        Assert(~indexed | (command.p.channel == channel)),
    ]
    with m.If(asked.active):
        m.d.comb += asked.check(command.p.address, asked.ahead, command.p.channel)
    assert_buffered_fifo(m, inside, "queue.", depth, followed)
    reach = [asked.active & ~indexed & (asked.ahead == 2), taken & ~enters, leaves & enters]
    if limited:
        m.d.comb += [
            Assume(~accepted | (under_way != config.read_buffer + 2)),
            Assert(records.ready | (command.valid & ~command.ready)),
            # No more than one word goes past the queue's empty output at a time.
            Assert(inside.signal("queue.r_rdy") | (inside.signal("queue.inner_level") <= 1)),
        ]
    else:
        reach.append(~records.ready & (followed.count == depth) & ~command.valid)
    return Bench(
        m, [followed.choose, *asked.choices, dut.start, dut.issue.as_value(), dut.rows,
            records.valid, records.payload, command.ready, wanted.ready], reach)


PROOFS = [
    Proof(block="row_requests", bench=partial(_bench, False),
          claim="asks for each row once, in order, and keeps what it is for until its word comes"),
    Proof(block="row_requests", bench=partial(_bench, True),
          claim="holds up no record but for a reader that takes no command"),
]
