# SPDX-License-Identifier: BSD-2-Clause
"""Cuts the panels LOSS reads into the groups it works on."""

from amaranth.hdl import Module, Mux, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.limits import group_size
from hypercast.rtl.vector.loss_layouts import (
    element_group,
    group_limit,
    labelled_group,
)

__all__ = ["LogitGroups"]


class LogitGroups(wiring.Component):
    """Gives out the groups of a row that hold classes, one per cycle and without latency.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    groups : In(range(group_limit(config) + 1))
        Groups of a row, at least 1; held while rows are under way.
    words : In(stream of word_width)
        The logits' panels, row by row.
    bits : In(stream of lanes)
        Which labels the vertex has, one per panel, taken with it.
    o : Out(stream of labelled_group(config))
        The groups, row by row.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "groups": In(range(group_limit(config) + 1)),
            "words": In(stream.Signature(config.word_width)),
            "bits": In(stream.Signature(config.lanes)),
            "o": Out(stream.Signature(labelled_group(config))),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        config = self._config
        panel_groups = config.lanes // group_size(config)
        logits = data.ArrayLayout(element_group(config), panel_groups)(
            self.words.payload[:config.data_width])
        bits = data.ArrayLayout(unsigned(group_size(config)), panel_groups)(self.bits.payload)

        # A row begins with a panel, so that the lowest bits are the place in a panel.
        group = Signal.like(self.groups)
        place = group[:panel_groups.bit_length() - 1]
        last, fire, used_up = Signal(), Signal(), Signal()
        m.d.comb += [
            self.o.valid.eq(self.words.valid & self.bits.valid),
            self.o.p.logits.eq(logits[place]),
            self.o.p.bits.eq(bits[place]),
            last.eq(group == self.groups - 1),
            fire.eq(self.o.valid & self.o.ready),
            used_up.eq(fire & (last | (place == panel_groups - 1))),
            self.words.ready.eq(used_up),
            self.bits.ready.eq(used_up),
        ]
        with m.If(fire):
            m.d.sync += group.eq(Mux(last, 0, group + 1))
        return m
