# SPDX-License-Identifier: BSD-2-Clause
"""The sending end of a link: arbitration, credits, the output register and its parity."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import Link, flit
from hypercast.rtl.lib.priority_arbiter import PriorityArbiter
from hypercast.rtl.lib.round_robin_arbiter import one_hot_mux
from hypercast.rtl.network import routing
from hypercast.rtl.network.age import AGES

__all__ = ["LinkOutput"]


class LinkOutput(wiring.Component):
    """Sends one flit per cycle, the most urgent one whose plane has a credit.

    A granted flit is on the link two cycles later, its destinations and source relative to the
    neighbour. A credit can be used in the cycle in which it comes back. Among equally urgent flits,
    the one whose buffer was granted least recently goes first; none loses its turn while its plane
    has no credit.

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
    requests : In(requesters)
        One bit per requester, high if its flit is valid and wants to go along the link.
    ages, favoured : In(AGES), one per requester, and In(requesters)
        Priorities and favours in the next cycle, see ``PriorityArbiter``.
    grants : Out(requesters)
        At most one bit is high: that flit is taken. Combinational.
    flits : In(flit), one per requester
        The flits, a cycle after the requests; their destinations may be elsewhere, too.
    link : Out(Link)
        The link.
    """

    def __init__(self, config: Config, dimension: int, planes: Sequence[int]) -> None:
        self._config = config
        self._dimension = dimension
        self._planes = tuple(planes)
        super().__init__({
            "requests": In(len(self._planes)),
            "ages": In(AGES).array(len(self._planes)),
            "favoured": In(len(self._planes)),
            "grants": Out(len(self._planes)),
            "flits": In(flit(config)).array(len(self._planes)),
            "link": Out(Link(config)),
        })

    def elaborate(self, platform: object) -> Module:
        config, dimension, planes = self._config, self._dimension, self._planes
        m = Module()
        depth = config.buffer_depth
        m.submodules.arbiter = arbiter = PriorityArbiter(len(planes), AGES)
        m.d.comb += [
            arbiter.enable.eq(1),
            arbiter.favoured.eq(self.favoured),
            self.grants.eq(arbiter.grants),
        ]
        able = Signal(config.planes)  # planes with a credit
        for plane in range(config.planes):
            # As many ones as there are credits: whether there is one takes no logic.
            credits = Signal(depth, init=-1, name=f"credits_{plane}")
            usable = Signal(depth + 1, name=f"usable_{plane}")
            spent = Cat(self.grants[index] for index, own in enumerate(planes) if own == plane)
            m.d.comb += [
                usable.eq(Mux(self.link.credit[plane], Cat(1, credits), credits)),
                able[plane].eq(usable[0]),
            ]
            m.d.sync += credits.eq(Mux(spent.any(), usable[1:], usable))
        for index, plane in enumerate(planes):
            m.d.comb += [
                arbiter.requests[index].eq(self.requests[index] & able[plane]),
                arbiter.priorities[index].eq(self.ages[index]),
            ]

        # Only the destinations beyond this link go along; which these are depends on the plane.
        beyond = [one.destinations & routing.first_hops(plane, config.dimensions)[dimension]
                 for one, plane in zip(self.flits, planes, strict=True)]
        granted = Signal.like(self.grants)
        taken = flit(config)(one_hot_mux(granted, [one.as_value() for one in self.flits]))
        m.d.sync += [
            granted.eq(self.grants),
            self.link.valid.eq(granted.any()),
            self.link.flit.eq(taken),
            self.link.flit.destinations.eq(
                routing.hop(one_hot_mux(granted, beyond), dimension, config.dimensions)),
            self.link.flit.source.eq(taken.source ^ 1 << dimension),
            self.link.parity.eq(Cat(self.link.valid, self.link.flit).xor()),
        ]
        return m
