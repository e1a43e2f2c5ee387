# SPDX-License-Identifier: BSD-2-Clause
"""Buffer for the flits of one plane that come to a router from one side."""

from itertools import combinations

from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import flit
from hypercast.rtl.network import age, routing
from hypercast.rtl.network.request_queue import RequestQueue

__all__ = ["InputBuffer"]


class InputBuffer(wiring.Component):
    """Holds flits in order and remembers which outputs have served the one at the head.

    A flit at the head asks for all its outputs at once. They may serve it in any order, in the same
    or in different cycles; it leaves in the cycle in which the last one does. A flit with an empty
    destinations leaves unserved.

    Parameters
    ----------
    config : Config
        Configuration of the chip.
    plane : int
        Plane of the flits.
    arrival : int or None
        Dimension over which they come; None if they are injected here.

    Attributes
    ----------
    outputs : tuple of int
        Dimensions the flits can go on along; output 0 is this core, output ``1 + i`` is
        ``outputs[i]``.

    Members
    -------
    write : In(1)
        High to store ``flit``, only while ``room``.
    flit : In(flit)
        Valid with ``write``.
    room : Out(1)
        High if there is room for a flit.
    requests : Out(1 + outputs)
        Outputs that have still to serve the flit at the head, from the cycle after it was written.
    head : Out(flit)
        The flit that was at the head one cycle ago or, if none was, that is there now.
    age : Out(AGES)
        Age of ``head`` one cycle ago, see ``FlitAge``; zero if no flit was waiting then.
    favoured : Out(1 + outputs)
        Requests to be preferred to others of the same age: the last one of a flit that others wait
        behind, since it frees its place. Never one of the oldest age: among these it is strictly by
        turns, so that nobody starves.
    frame : In(FRAME_WIDTH)
        The frame it is now.
    served : In(1 + outputs)
        Outputs that take the flit at the head; only ones that were requested.
    leaves : Out(1)
        High in the cycle in which it leaves.
    """

    def __init__(self, config: Config, plane: int, arrival: int | None) -> None:
        self._config = config
        self._plane = plane
        self.outputs = routing.outputs(plane, arrival, config.dimensions)
        super().__init__({
            "write": In(1),
            "flit": In(flit(config)),
            "room": Out(1),
            "requests": Out(1 + len(self.outputs)),
            "head": Out(flit(config)),
            "age": Out(age.AGES),
            "favoured": Out(1 + len(self.outputs)),
            "frame": In(age.FRAME_WIDTH),
            "served": In(1 + len(self.outputs)),
            "leaves": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        config = self._config
        m = Module()
        # The outputs are worked out on the way in: from the head they are requested at once.
        beyond = routing.first_hops(self._plane, config.dimensions)
        m.submodules.queue = queue = RequestQueue(config.buffer_depth, len(self.requests))
        # A flit is needed for a cycle after it was granted, so it stays for that long.
        m.submodules.fifo = fifo = SyncFIFO(
            width=len(self.flit.as_value()), depth=config.buffer_depth + 1)
        m.d.sync += fifo.r_en.eq(queue.leaves)
        m.d.comb += [
            fifo.w_en.eq(self.write),
            fifo.w_data.eq(self.flit),
            self.head.eq(fifo.r_data),
            queue.write.eq(self.write),
            queue.wanted.eq(Cat(self.flit.destinations[0], (
                (self.flit.destinations & beyond[dimension]).any() for dimension in self.outputs))),
            queue.served.eq(self.served),
            self.room.eq(queue.room),
            self.requests.eq(queue.requests),
            self.leaves.eq(queue.leaves),
        ]
        m.submodules.age = head_age = age.FlitAge()
        several = Cat(one & other for one, other in combinations(self.requests, 2)).any()
        favoured = queue.followed & ~several & ~self.age[-1]
        m.d.comb += [
            head_age.valid.eq(queue.present),
            head_age.injected.eq(self.head.frame),
            head_age.frame.eq(self.frame),
            self.age.eq(head_age.age),
            self.favoured.eq(self.requests & favoured.replicate(len(self.requests))),
        ]
        return m
