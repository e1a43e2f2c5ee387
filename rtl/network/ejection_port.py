# SPDX-License-Identifier: BSD-2-Clause
"""One of the ports at which a router hands flits to its core."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import flit
from hypercast.rtl.lib.priority_arbiter import PriorityArbiter
from hypercast.rtl.lib.round_robin_arbiter import one_hot_mux
from hypercast.rtl.lib.skid_buffer import SkidBuffer
from hypercast.rtl.network.age import AGES

__all__ = ["EjectionPort"]


class EjectionPort(wiring.Component):
    """Hands over one flit per cycle, the most urgent request first.

    A granted flit is at the stream two cycles later, unless the core stalls.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    count : int
        Number of requesting buffers.

    Members
    -------
    requests : In(count)
        One bit per requester, high if its flit is valid and for this core.
    ages, favoured : In(AGES), one per requester, and In(count)
        Priorities and favours in the next cycle, see ``PriorityArbiter``.
    grants : Out(count)
        At most one bit is high: that flit is taken. Combinational, and dependent on
        ``eject.ready``.
    flits : In(flit), one per requester
        The flits, a cycle after the requests.
    eject : Out(stream of flit)
        The flits, each for this core only (bit 0), and frame 0.
    """

    def __init__(self, config: Config, count: int) -> None:
        self._config = config
        self._count = count
        super().__init__({
            "requests": In(count),
            "ages": In(AGES).array(count),
            "favoured": In(count),
            "grants": Out(count),
            "flits": In(flit(config)).array(count),
            "eject": Out(stream.Signature(flit(config))),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.arbiter = arbiter = PriorityArbiter(self._count, AGES)
        # A flit granted while the output is free finds room a cycle later, even if it stalls then.
        m.d.comb += [
            arbiter.enable.eq(~self.eject.valid | self.eject.ready),
            arbiter.requests.eq(self.requests),
            arbiter.favoured.eq(self.favoured),
            self.grants.eq(arbiter.grants),
        ]
        for index, age in enumerate(self.ages):
            m.d.comb += arbiter.priorities[index].eq(age)
        granted = Signal.like(self.grants)
        m.d.sync += granted.eq(self.grants)
        m.submodules.output = output = SkidBuffer(flit(self._config))
        connect(m, output.o, flipped(self.eject))
        m.d.comb += [
            output.i.valid.eq(granted.any()),
            output.i.payload.eq(one_hot_mux(granted, [one.as_value() for one in self.flits])),
            output.i.payload.destinations.eq(1),
            output.i.payload.frame.eq(0),
        ]
        return m
