# SPDX-License-Identifier: BSD-2-Clause
"""Lets AXI4-Lite transfers happen in some cycles only. Wiring only."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.control.axi_lite import AxiLite

__all__ = ["AxiPace"]


class AxiPace(wiring.Component):
    """Between a manager that works in every cycle and a subordinate that does not.

    Members
    -------
    enable : In(1)
        High in the cycles in which the subordinate works.
    manager : In(AxiLite())
        The manager's side; nothing is ready or valid unless ``enable``.
    subordinate : Out(AxiLite())
        The subordinate's side.
    """

    enable: In(1)
    manager: In(AxiLite())
    subordinate: Out(AxiLite())

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for name, member in AxiLite().members.items():
            ends = getattr(self.manager, name), getattr(self.subordinate, name)
            source, target = ends if member.flow == Out else ends[::-1]
            gated = member.flow == In and name.endswith(("ready", "valid"))
            m.d.comb += target.eq(source & self.enable if gated else source)
        return m
