"""One of the ports at which a router hands flits to its core."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.layouts import flit
from hypercast.rtl.lib.priority_arbiter import PriorityArbiter
from hypercast.rtl.lib.round_robin_arbiter import one_hot_mux
from hypercast.rtl.network.age import PRIORITIES

__all__ = ["EjectionPort"]


class EjectionPort(wiring.Component):
    """Hands over one flit per cycle, the most urgent request first.

    A granted flit is at the stream in the next cycle.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    count : int
        Number of requesting buffers.

    Members
    -------
    flits : In(flit), one per requester
        The flits that may be for this core.
    requests : In(count)
        One bit per requester, high if its flit is valid and for this core.
    priorities : In(PRIORITIES), one per requester
        Thermometers, see ``PriorityArbiter``.
    grants : Out(count)
        At most one bit is high: that flit is taken in this cycle. Combinational, and dependent on
        ``eject.ready``.
    eject : Out(stream of flit)
        The flits, each with nothing but this core in its mask (bit 0), and epoch 0.
    """

    def __init__(self, config, count):
        self._config = config
        self._count = count
        super().__init__({
            "flits": In(flit(config)).array(count),
            "requests": In(count),
            "priorities": In(PRIORITIES).array(count),
            "grants": Out(count),
            "eject": Out(stream.Signature(flit(config))),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.arbiter = arbiter = PriorityArbiter(self._count, PRIORITIES)
        free = ~self.eject.valid | self.eject.ready
        m.d.comb += [
            arbiter.enable.eq(free),
            arbiter.requests.eq(self.requests),
            self.grants.eq(arbiter.grants),
        ]
        for index, priority in enumerate(self.priorities):
            m.d.comb += arbiter.priorities[index].eq(priority)
        with m.If(free):
            m.d.sync += [
                self.eject.valid.eq(self.requests.any()),
                self.eject.payload.eq(
                    one_hot_mux(self.grants, [one.as_value() for one in self.flits])),
                self.eject.payload.mask.eq(1),
                self.eject.payload.epoch.eq(0),
            ]
        return m
