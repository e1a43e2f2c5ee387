"""The sending end of a link: arbitration, credits, the output register and its parity."""

from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.layouts import Link, flit
from hypercast.rtl.lib.priority_arbiter import PriorityArbiter
from hypercast.rtl.lib.round_robin_arbiter import one_hot_mux
from hypercast.rtl.network import routing
from hypercast.rtl.network.age import PRIORITIES

__all__ = ["LinkOutput"]


class LinkOutput(wiring.Component):
    """Sends one flit per cycle, the most urgent one whose plane has a credit.

    A granted flit is on the link in the next cycle, its mask and source relative to the neighbour.
    A credit that comes back can be used in the cycle after. Among equally urgent flits, planes with
    a credit take turns, and within each plane its buffers do.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    dimension : int
        Dimension of the link.
    planes : sequence of int
        Plane of each requesting buffer; every plane has one.

    Members
    -------
    flits : In(flit), one per requester
        The flits that want to go along the link, perhaps among others.
    requests : In(requesters)
        One bit per requester, high if its flit is valid and wants to go along the link.
    priorities : In(PRIORITIES), one per requester
        Thermometers, see ``PriorityArbiter``.
    grants : Out(requesters)
        At most one bit is high: that flit is taken in this cycle. Combinational.
    link : Out(Link)
        The link.
    """

    def __init__(self, config, dimension, planes):
        self._config = config
        self._dimension = dimension
        self._planes = tuple(planes)
        super().__init__({
            "flits": In(flit(config)).array(len(self._planes)),
            "requests": In(len(self._planes)),
            "priorities": In(PRIORITIES).array(len(self._planes)),
            "grants": Out(len(self._planes)),
            "link": Out(Link(config)),
        })

    def elaborate(self, platform):
        config, dimension, planes = self._config, self._dimension, self._planes
        m = Module()
        depth = config.buffer_depth
        # A plane's turns among its requests must not pass while it has no credit: one arbiter for
        # all would starve a request whose turn always comes when the credit does not.
        m.submodules.planes = chosen = PriorityArbiter(config.planes, PRIORITIES)
        m.d.comb += chosen.enable.eq(1)
        for plane in range(config.planes):
            own = [index for index, one in enumerate(planes) if one == plane]
            m.submodules[f"plane_{plane}"] = arbiter = PriorityArbiter(len(own), PRIORITIES)
            credit = Signal(range(depth + 1), init=depth, name=f"credits_{plane}")
            m.d.comb += [
                arbiter.requests.eq(Cat(self.requests[index] for index in own)),
                arbiter.enable.eq(chosen.grants[plane]),
                Cat(self.grants[index] for index in own).eq(arbiter.grants),
                chosen.requests[plane].eq(arbiter.requests.any() & credit.any()),
            ]
            for number, index in enumerate(own):
                m.d.comb += arbiter.priorities[number].eq(self.priorities[index])
            m.d.comb += chosen.priorities[plane].eq(reduce(or_, (
                self.priorities[index] & self.requests[index].replicate(PRIORITIES)
                for index in own)))
            m.d.sync += credit.eq(credit - chosen.grants[plane] + self.link.credit[plane])

        # Only the destinations beyond this link go along; which those are depends on the plane.
        masks = [one.mask & routing.split_masks(plane, config.dimensions)[dimension]
                 for one, plane in zip(self.flits, planes, strict=True)]
        taken = flit(config)(one_hot_mux(self.grants, [one.as_value() for one in self.flits]))
        m.d.sync += [
            self.link.valid.eq(self.grants.any()),
            self.link.flit.eq(taken),
            self.link.flit.mask.eq(
                routing.hop(one_hot_mux(self.grants, masks), dimension, config.dimensions)),
            self.link.flit.source.eq(taken.source ^ 1 << dimension),
            self.link.parity.eq(Cat(self.link.valid, self.link.flit).xor()),
        ]
        return m
