# SPDX-License-Identifier: BSD-2-Clause
"""The host port's window into the controller's and the cores' address spaces."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import HostRequest
from hypercast.rtl.registers import ALL_CORES, CoreSpace, Space

__all__ = ["TIMEOUT", "Window"]

#: Cycles after which a request without an answer fails.
TIMEOUT = 4096
#: Bit of an address that tells the carries of counters' sums from their low 32 bits.
_UPPER = CoreSpace.CARRIES ^ CoreSpace.COUNTERS


class Window(wiring.Component):
    """Makes one window access at a time, and refuses accesses that cannot be answered.

    Refused are spaces and cores that do not exist, all cores at once but of the space CORE and,
    while a program runs, everything but the space CORE: it is for the host to write only row counts
    that the program does not name.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    access : In(1)
        High for one cycle to start an access; never before the last one is ``done``.
    core, space, address, write, data : In(32), In(32), In(32), In(1), In(32)
        The access; they must not change from ``access`` to ``done``.
    running : In(1)
        A program is running.
    resetting : In(1)
        The cores are being reset: everything is refused.
    done : Out(1)
        High for one cycle when the access has ended.
    error : Out(1)
        The access was refused, or nobody answered within ``TIMEOUT`` cycles; valid with ``done``.
    result : Out(32)
        What was read; valid with ``done``.
    request : Out(HostRequest)
        The request; registered, and stays until the next one.
    upper : Out(1)
        The request is for what a sum over all cores has beyond 32 bits; as ``request``.
    chip_valid, core_valid : Out(1)
        Registered; one of them is high for one cycle per request, ``chip_valid`` if it is for
        the spaces PROGRAM or TENSORS, ``core_valid`` if it is for the cores.
    response, response_valid : In(32), In(1)
        The answer.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "access": In(1), "core": In(32), "space": In(32), "address": In(32),
            "write": In(1), "data": In(32), "running": In(1), "resetting": In(1),
            "done": Out(1), "error": Out(1), "result": Out(32),
            "request": Out(HostRequest), "upper": Out(1),
            "chip_valid": Out(1), "core_valid": Out(1),
            "response": In(32), "response_valid": In(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        exists, in_core, own, every, upper = (Signal() for _ in range(5))
        m.d.comb += [
            in_core.eq(self.space >= Space.FEATURES),
            exists.eq((self.space < len(Space))
                      & (~in_core | (self.core < self._config.cores) | every)),
            own.eq(self.space == Space.CORE),
            every.eq(own & (self.core == ALL_CORES)),
            upper.eq(every & (self.address >= CoreSpace.COUNTERS) & (self.address & _UPPER).any()),
        ]
        waited = Signal(range(TIMEOUT))
        m.d.sync += [
            self.done.eq(0), self.error.eq(0), self.chip_valid.eq(0), self.core_valid.eq(0),
        ]
        with m.FSM():
            with m.State("IDLE"), m.If(self.access):
                m.d.sync += [
                    self.request.core.eq(self.core),
                    self.request.all_cores.eq(every),
                    self.request.space.eq(self.space),
                    self.request.address.eq(Mux(upper, self.address ^ _UPPER, self.address)),
                    self.upper.eq(upper),
                    self.request.write.eq(self.write),
                    self.request.data.eq(self.data),
                    waited.eq(0),
                ]
                with m.If(exists & ~self.resetting & (~self.running | own)):
                    m.d.sync += [self.chip_valid.eq(~in_core), self.core_valid.eq(in_core)]
                    m.next = "WAIT"
                with m.Else():
                    m.d.sync += [self.done.eq(1), self.error.eq(1)]
            with m.State("WAIT"):
                m.d.sync += [waited.eq(waited + 1), self.result.eq(self.response)]
                with m.If(self.response_valid):
                    m.d.sync += self.done.eq(1)
                    m.next = "IDLE"
                with m.Elif(waited == TIMEOUT - 1):
                    m.d.sync += [self.done.eq(1), self.error.eq(1)]
                    m.next = "IDLE"
        return m
