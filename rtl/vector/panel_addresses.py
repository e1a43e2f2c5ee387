# SPDX-License-Identifier: BSD-2-Clause
"""Addresses of a matrix that is walked row by row, or by several rows at a time."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.isa import LOSS_PANELS_WIDTH

__all__ = ["PanelAddresses"]


class PanelAddresses(wiring.Component):
    """Gives the address of panel 0, 1, ... of the first rows, then of the next, and so on.

    Parameters
    ----------
    config : Config
        Gives ``address_width``.

    Members
    -------
    start : In(1)
        Begins at ``base``.
    base : In(address_width)
        Address of the first row's panel 0; valid with ``start``.
    stride : In(address_width), panels : In(LOSS_PANELS_WIDTH)
        Words from panel to panel, and panels of a row; held.
    step : In(5)
        Rows walked at a time, 1 if not connected; valid while ``last``.
    advance : In(1)
        Goes on to the next panel.
    address : Out(address_width)
        The panel's address.
    last : Out(1)
        The panel is the row's last.
    """

    def __init__(self, config: Config) -> None:
        super().__init__({
            "start": In(1),
            "base": In(config.address_width),
            "stride": In(config.address_width),
            "panels": In(LOSS_PANELS_WIDTH),
            "step": In(5, init=1),
            "advance": In(1),
            "address": Out(config.address_width),
            "last": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        row, next_row = Signal.like(self.address), Signal.like(self.address)  # their panel 0
        panel = Signal.like(self.panels)
        m.d.comb += [self.last.eq(panel == self.panels - 1), next_row.eq(row + self.step)]
        with m.If(self.advance):
            m.d.sync += [self.address.eq(self.address + self.stride), panel.eq(panel + 1)]
            with m.If(self.last):
                m.d.sync += [self.address.eq(next_row), row.eq(next_row), panel.eq(0)]
        with m.If(self.start):
            m.d.sync += [self.address.eq(self.base), row.eq(self.base), panel.eq(0)]
        return m
