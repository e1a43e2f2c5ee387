# SPDX-License-Identifier: BSD-2-Clause
"""The receiving end of a link: sorts flits by plane, returns credits and watches for faults."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import Link, flit

__all__ = ["LinkInput"]


class LinkInput(wiring.Component):
    """Passes flits on to the buffers of their planes.

    Parameters
    ----------
    config : Config
        Configuration of the chip.

    Members
    -------
    link : In(Link)
        The link.
    flit : Out(flit)
        What is on the link.
    write : Out(planes)
        Bit ``r`` is high if ``flit`` is for the buffer of plane ``r``. Combinational.
    room : In(planes)
        Which buffers have room.
    leaves : In(planes)
        From which buffers a flit leaves in this cycle; its credit is returned in the next.
    fault : Out(1)
        High for a cycle, two cycles after what was on the link did not match its parity, or after a
        flit came for which there was no room. A corrupted flit is passed on as it is: the chip
        stops, its result is void.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "link": In(Link(config)),
            "flit": Out(flit(config)),
            "write": Out(config.planes),
            "room": In(config.planes),
            "leaves": In(config.planes),
            "fault": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        link = self.link
        parity, overflow = Signal(), Signal()
        m.d.comb += [
            self.flit.eq(link.flit),
            self.write.eq(Cat(link.valid & (link.flit.plane == plane)
                              for plane in range(self._config.planes))),
        ]
        m.d.sync += [
            link.credit.eq(self.leaves),
            parity.eq(Cat(link.valid, link.flit).xor()),
            overflow.eq((self.write & ~self.room).any()),
            self.fault.eq((parity ^ link.parity) | overflow),
        ]
        return m
