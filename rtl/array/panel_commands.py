# SPDX-License-Identifier: BSD-2-Clause
"""Where the panels of a matrix lie in memory."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.isa import PANELS_WIDTH, ROWS_WIDTH
from hypercast.rtl.lib.burst_reader import read_command

__all__ = ["PanelCommands"]


class PanelCommands(wiring.Component):
    """Commands to read the rows of panel 0, 1, ... of a matrix.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        Begins; not while commands of an earlier start are left.
    rows : In(ROWS_WIDTH)
        Words of a panel, at least 1; constant until the last command is taken.
    panels : In(PANELS_WIDTH)
        How many panels to read; may be 0. Valid with ``start``.
    channel : In(1), stride : In(address_width)
        Memory channel, and words from panel to panel; constant like ``rows``.
    address : In(address_width)
        First word of panel 0. Valid with ``start``.
    o : Out(stream of read_command(config))
        A command for each panel.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "start": In(1),
            "rows": In(ROWS_WIDTH),
            "panels": In(PANELS_WIDTH),
            "channel": In(1),
            "stride": In(config.address_width),
            "address": In(config.address_width),
            "o": Out(stream.Signature(read_command(config))),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        address = Signal.like(self.address)
        panels = Signal.like(self.panels)  # still to come
        m.d.comb += [
            self.o.valid.eq(panels != 0),
            self.o.p.channel.eq(self.channel),
            self.o.p.address.eq(address),
            self.o.p.count.eq(self.rows),
        ]
        with m.If(self.start):
            m.d.sync += [address.eq(self.address), panels.eq(self.panels)]
        with m.Elif(self.o.valid & self.o.ready):
            m.d.sync += [address.eq(address + self.stride), panels.eq(panels - 1)]
        return m
