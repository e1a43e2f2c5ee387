# SPDX-License-Identifier: BSD-2-Clause
"""Joins the groups LOSS works on to the panels it writes."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.limits import group_size
from hypercast.rtl.vector.loss_layouts import element_group, group_limit

__all__ = ["GradientWords"]


class GradientWords(wiring.Component):
    """Fills panels with groups; a row's last panel has zeros in the place of missing groups.

    It takes a group per cycle, and a panel follows its last group by one; groups that are panels
    pass at once.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    groups : In(range(group_limit(config) + 1))
        Groups of a row, at least 1; held while rows are under way.
    i : In(stream of element_group(config))
        The groups, row by row.
    o : Out(stream of data_width)
        The panels, row by row.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "groups": In(range(group_limit(config) + 1)),
            "i": In(stream.Signature(element_group(config))),
            "o": Out(stream.Signature(config.data_width)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        panel_groups = config.lanes // group_size(config)
        if panel_groups == 1:
            m.d.comb += [
                self.o.valid.eq(self.i.valid),
                self.o.payload.eq(self.i.payload),
                self.i.ready.eq(self.o.ready),
            ]
            return m

        # A row begins with a panel, so that the lowest bits are the place in a panel.
        group = Signal.like(self.groups)
        place = group[:panel_groups.bit_length() - 1]
        panel = Signal(data.ArrayLayout(element_group(config), panel_groups))
        last = group == self.groups - 1
        m.d.comb += [
            self.i.ready.eq(~self.o.valid | self.o.ready),
            self.o.payload.eq(panel),
        ]
        with m.If(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += [
                group.eq(Mux(last, 0, group + 1)),
                self.o.valid.eq(last | (place == panel_groups - 1)),
            ]
            for index in range(panel_groups):
                with m.If(place == index):
                    m.d.sync += panel[index].eq(self.i.payload)
                with m.Elif(place == 0):
                    m.d.sync += panel[index].eq(0)
        return m
