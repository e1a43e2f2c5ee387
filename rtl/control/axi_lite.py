# SPDX-License-Identifier: BSD-2-Clause
"""AXI4-Lite subordinate in front of a simple register bus."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["REGISTER_ADDRESS_WIDTH", "AxiLite", "AxiLiteSubordinate", "RegisterBus", "Response"]

#: Bits of a byte address.
REGISTER_ADDRESS_WIDTH = 12


class Response(enum.Enum, shape=2):  # type: ignore[call-arg]  # Amaranth's own keyword
    """``bresp`` and ``rresp``; only these two are ever given."""

    OKAY = 0
    SLVERR = 2


class AxiLite(wiring.Signature):
    """AXI4-Lite (Arm IHI 0022), 32-bit data, 12-bit byte address (seen from the manager).

    Members
    -------
    awvalid, awready, awaddr, awprot
        Write address; the two low address bits and ``awprot`` are ignored.
    wvalid, wready, wdata, wstrb
        Write data; all four strobes must be high.
    bvalid, bready, bresp
        Write response.
    arvalid, arready, araddr, arprot
        Read address; the two low address bits and ``arprot`` are ignored.
    rvalid, rready, rdata, rresp
        Read data and response; with an error, the data are zero.

    All of the subordinate's outputs are registers.
    """

    def __init__(self) -> None:
        super().__init__({
            "awvalid": Out(1), "awready": In(1, init=1),
            "awaddr": Out(REGISTER_ADDRESS_WIDTH), "awprot": Out(3),
            "wvalid": Out(1), "wready": In(1, init=1), "wdata": Out(32), "wstrb": Out(4),
            "bvalid": In(1), "bready": Out(1), "bresp": In(Response),
            "arvalid": Out(1), "arready": In(1, init=1),
            "araddr": Out(REGISTER_ADDRESS_WIDTH), "arprot": Out(3),
            "rvalid": In(1), "rready": Out(1), "rdata": In(32), "rresp": In(Response),
        })


class RegisterBus(wiring.Signature):
    """One 32-bit register access at a time (seen from the initiator).

    Members
    -------
    valid : Out(1)
        High from the access's first cycle to the cycle of ``done``.
    write, address, data : Out(1), Out(10), Out(32)
        A write of ``data``, or a read; ``address`` counts registers of 32 bits. They do not change
        while ``valid``.
    done : In(1)
        High for one cycle, after ``valid``, to end the access.
    error : In(1)
        The access failed; valid with ``done``.
    result : In(32)
        What was read; valid with ``done``.
    """

    def __init__(self) -> None:
        super().__init__({
            "valid": Out(1), "write": Out(1), "address": Out(REGISTER_ADDRESS_WIDTH - 2),
            "data": Out(32), "done": In(1), "error": In(1), "result": In(32),
        })


class AxiLiteSubordinate(wiring.Component):
    """Turns AXI4-Lite transactions into register accesses, one after the other.

    Address and data of a write may come in any order. One transaction of each direction can wait
    here while another is served; when both a read and a write wait, they take turns. A write whose
    strobes are not all high ends with SLVERR and does not reach the bus.

    Members
    -------
    axi : In(AxiLite())
        The manager's side.
    bus : Out(RegisterBus())
        The registers' side. All outputs are registers.
    """

    axi: In(AxiLite())
    bus: Out(RegisterBus())

    def elaborate(self, platform: object) -> Module:
        m = Module()
        axi, bus = self.axi, self.bus

        # A channel is ready exactly while its holding register is empty.
        write_address = Signal(REGISTER_ADDRESS_WIDTH)
        read_address = Signal(REGISTER_ADDRESS_WIDTH)
        write_data = Signal(32)
        strobes = Signal(4)
        with m.If(axi.awvalid & axi.awready):
            m.d.sync += [write_address.eq(axi.awaddr), axi.awready.eq(0)]
        with m.If(axi.wvalid & axi.wready):
            m.d.sync += [write_data.eq(axi.wdata), strobes.eq(axi.wstrb), axi.wready.eq(0)]
        with m.If(axi.arvalid & axi.arready):
            m.d.sync += [read_address.eq(axi.araddr), axi.arready.eq(0)]
        with m.If(axi.bready):
            m.d.sync += axi.bvalid.eq(0)
        with m.If(axi.rready):
            m.d.sync += axi.rvalid.eq(0)

        write_pending, read_pending = Signal(), Signal()
        m.d.comb += [
            write_pending.eq(~axi.awready & ~axi.wready & ~axi.bvalid),
            read_pending.eq(~axi.arready & ~axi.rvalid),
        ]
        end_write = [axi.bvalid.eq(1), axi.awready.eq(1), axi.wready.eq(1)]

        with m.FSM():
            with m.State("IDLE"):
                # ``bus.write`` still tells which direction had the last turn.
                with m.If(write_pending & ~(read_pending & bus.write)):
                    m.d.sync += [
                        bus.write.eq(1),
                        bus.address.eq(write_address[2:]),
                        bus.data.eq(write_data),
                    ]
                    with m.If(strobes.all()):
                        m.d.sync += bus.valid.eq(1)
                        m.next = "ACCESS"
                    with m.Else():
                        m.d.sync += [*end_write, axi.bresp.eq(Response.SLVERR)]
                with m.Elif(read_pending):
                    m.d.sync += [
                        bus.valid.eq(1), bus.write.eq(0), bus.address.eq(read_address[2:]),
                    ]
                    m.next = "ACCESS"
            with m.State("ACCESS"), m.If(bus.done):
                response = Signal(Response)
                with m.If(bus.error):
                    m.d.comb += response.eq(Response.SLVERR)
                m.d.sync += bus.valid.eq(0)
                with m.If(bus.write):
                    m.d.sync += [*end_write, axi.bresp.eq(response)]
                with m.Else():
                    m.d.sync += [
                        axi.rvalid.eq(1), axi.arready.eq(1),
                        axi.rdata.eq(Mux(bus.error, 0, bus.result)), axi.rresp.eq(response),
                    ]
                m.next = "IDLE"
        return m
