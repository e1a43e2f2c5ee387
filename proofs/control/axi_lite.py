# SPDX-License-Identifier: BSD-2-Clause
"""The AXI4-Lite subordinate."""

from amaranth.hdl import Assert, Assume, Cat, Module, Mux, Signal, Value

from hypercast.proofs.inside import Inside
from hypercast.proofs.proof import Proof
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import Handshake, is_held, past
from hypercast.rtl.control.axi_lite import AxiLiteSubordinate, Response

__all__ = ["PROOFS"]


def _response(error: Value) -> Value:
    """The response to a transaction."""
    return Mux(error, Value.cast(Response.SLVERR), Value.cast(Response.OKAY))


def _keep(m: Module, valid: Value, ready: Value, payload: Value,
          ends: Value) -> tuple[Signal, Signal]:
    """Whether a transfer waits for its transaction to end, and what it was."""
    waits, kept = Signal(), Signal.like(payload)
    with m.If(valid & ready):
        m.d.sync += [waits.eq(1), kept.eq(payload)]
    with m.Elif(ends):
        m.d.sync += waits.eq(0)
    m.d.comb += [Assert(~(valid & ready & waits)), Assert(ready == ~waits)]
    return waits, kept


def _bench() -> Bench:
    """Each transaction is one access with its address and data, and ends with one response.

    A write without all strobes is none. Reads and writes take turns.
    """
    m = Module()
    dut = AxiLiteSubordinate()
    inside = Inside(m, dut)
    axi, bus = dut.axi, dut.bus
    begun = past(m, bus.valid)
    m.d.comb += Assume(~bus.done | (bus.valid & begun))
    responses = [
        Handshake(valid=axi.bvalid, ready=axi.bready, payload=Cat(axi.bresp)),
        Handshake(valid=axi.rvalid, ready=axi.rready, payload=Cat(axi.rdata, axi.rresp)),
    ]
    written, read = (one.valid & ~past(m, one.valid & ~one.ready) for one in responses)
    # A response begins in the cycle after its transaction has ended.
    done, refused, was_write = bus.valid & bus.done, Signal(), bus.write
    ends_write, ends_read = (done & was_write) | refused, done & ~was_write
    has_address, address = _keep(m, axi.awvalid, axi.awready, axi.awaddr, ends_write)
    has_data, data = _keep(m, axi.wvalid, axi.wready, Cat(axi.wdata, axi.wstrb), ends_write)
    has_read, read_address = _keep(m, axi.arvalid, axi.arready, axi.araddr, ends_read)
    write_waits = has_address & has_data & ~axi.bvalid
    read_waits = has_read & ~axi.rvalid
    m.d.comb += refused.eq(~bus.valid & write_waits & ~(read_waits & bus.write)
                           & ~data[32:].all())
    error = past(m, bus.error)
    m.d.comb += [
        *(Assert(is_held(m, one)) for one in responses),
        Assert(written == past(m, ends_write)), Assert(read == past(m, ends_read)),
        Assert(~written | (Value.cast(axi.bresp) == _response(error | past(m, refused)))),
        Assert(~read | (Value.cast(axi.rresp) == _response(error))),
        Assert(~read | (axi.rdata == Mux(error, 0, past(m, bus.result)))),
        Assert(bus.valid | ~past(m, bus.valid & ~bus.done)),
        Assert(~past(m, done) | ~bus.valid),
    ]
    with m.If(bus.valid & bus.write):
        m.d.comb += Assert(write_waits & data[32:].all() & (bus.address == address[2:])
                           & (bus.data == data[:32]))
    with m.If(bus.valid & ~bus.write):
        m.d.comb += Assert(read_waits & (bus.address == read_address[2:]))
    # While one direction waits, the other comes first at most once, and none without need.
    starts, ended = bus.valid & ~begun, written & past(m, refused)
    for waits, mine, others in (
            (write_waits, bus.valid & bus.write, starts & ~bus.write),
            (read_waits, bus.valid & ~bus.write, (starts & bus.write) | ended)):
        passed = Signal(2)
        with m.If(~waits | mine):
            m.d.sync += passed.eq(0)
        with m.Else():
            m.d.sync += passed.eq(passed + others)
        m.d.comb += [Assert(passed < 2), Assert(~waits | mine | (passed + others < 2))]
    idle = ~bus.valid & (write_waits | read_waits) & ~refused
    m.d.comb += Assert(~past(m, idle) | bus.valid)

    m.d.comb += [
        Assert(inside.state("", "ACCESS") == bus.valid),
        Assert(~has_address | (inside.signal("write_address") == address)),
        Assert(~has_data | (Cat(inside.signal("write_data"), inside.signal("strobes")) == data)),
        Assert(~has_read | (inside.signal("read_address") == read_address)),
    ]
    return Bench(m, [axi.awvalid, axi.awaddr, axi.wvalid, axi.wdata, axi.wstrb, axi.bready,
                     axi.arvalid, axi.araddr, axi.rready, bus.done, bus.error, bus.result],
                 [written & past(m, refused), write_waits & read_waits & bus.valid,
                  read & (Value.cast(axi.rresp) == Value.cast(Response.SLVERR))])


PROOFS = [
    Proof(block="axi_lite", bench=_bench,
          claim="each transaction is one access and ends with one response; directions take turns"),
]
