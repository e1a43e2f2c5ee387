# SPDX-License-Identifier: BSD-2-Clause
"""Turns register accesses into AXI4-Lite transactions."""

from amaranth.hdl import Cat, Const, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.control.axi_lite import AxiLite, RegisterBus, Response

__all__ = ["AxiLiteManager"]


class AxiLiteManager(wiring.Component):
    """The opposite of ``AxiLiteSubordinate``: one transaction at a time.

    Members
    -------
    bus : In(RegisterBus())
        Accesses; ``result`` and ``error`` are registered and stay until the next access.
    axi : Out(AxiLite())
        The subordinate's side. All outputs are registers.
    """

    bus: In(RegisterBus())
    axi: Out(AxiLite())

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bus, axi = self.bus, self.axi
        for valid, ready in ((axi.awvalid, axi.awready), (axi.wvalid, axi.wready),
                             (axi.arvalid, axi.arready)):
            with m.If(ready):
                m.d.sync += valid.eq(0)
        m.d.sync += bus.done.eq(0)
        with m.FSM():
            with m.State("IDLE"), m.If(bus.valid & ~bus.done):
                m.d.sync += [
                    axi.awaddr.eq(Cat(Const(0, 2), bus.address)),
                    axi.araddr.eq(Cat(Const(0, 2), bus.address)),
                    axi.wdata.eq(bus.data), axi.wstrb.eq(0xF),
                    axi.awvalid.eq(bus.write), axi.wvalid.eq(bus.write),
                    axi.arvalid.eq(~bus.write), axi.bready.eq(bus.write), axi.rready.eq(~bus.write),
                ]
                m.next = "RESPONSE"
            with m.State("RESPONSE"):
                with m.If(axi.bready & axi.bvalid):
                    m.d.sync += [
                        bus.error.eq(axi.bresp != Response.OKAY), bus.done.eq(1), axi.bready.eq(0),
                    ]
                    m.next = "IDLE"
                with m.If(axi.rready & axi.rvalid):
                    m.d.sync += [
                        bus.error.eq(axi.rresp != Response.OKAY), bus.done.eq(1), axi.rready.eq(0),
                        bus.result.eq(axi.rdata),
                    ]
                    m.next = "IDLE"
        return m
