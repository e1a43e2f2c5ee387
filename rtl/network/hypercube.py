# SPDX-License-Identifier: BSD-2-Clause
"""All routers of a chip and the links between them."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import flit
from hypercast.rtl.network.age import FrameCounter
from hypercast.rtl.network.router import Router
from hypercast.rtl.network.topology import links, neighbour

__all__ = ["Hypercube"]


class Hypercube(wiring.Component):
    """The network alone, without cores; wiring only.

    Parameters
    ----------
    config : Config
        Configuration of the chip.

    Members
    -------
    inject : In(stream of flit), one per core
        As ``Router.inject``.
    eject : Out(stream of flit), one per core and ejection port
        As ``Router.eject``; ``eject[core][port]``.
    sent, faults : Out(dimensions), one per core
        As ``Router.sent`` and ``Router.faults``.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "inject": In(stream.Signature(flit(config))).array(config.cores),
            "eject": Out(stream.Signature(flit(config))).array(config.cores, config.eject),
            "sent": Out(config.dimensions).array(config.cores),
            "faults": Out(config.dimensions).array(config.cores),
        })

    def elaborate(self, platform: object) -> Module:
        config = self._config
        m = Module()
        m.submodules.frames = frames = FrameCounter()
        routers = [Router(config) for _ in range(config.cores)]
        for core, router in enumerate(routers):
            m.submodules[f"router_{core}"] = router
            connect(m, flipped(self.inject[core]), router.inject)
            for port in range(config.eject):
                connect(m, router.eject[port], flipped(self.eject[core][port]))
            m.d.comb += [
                router.frame.eq(frames.frame),
                self.sent[core].eq(router.sent),
                self.faults[core].eq(router.faults),
            ]
        for core, dimension in links(config.dimensions):
            connect(m, routers[core].outgoing[dimension],
                    routers[neighbour(core, dimension)].incoming[dimension])
        return m
