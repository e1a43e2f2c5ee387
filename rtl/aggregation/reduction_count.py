# SPDX-License-Identifier: BSD-2-Clause
"""Counts the digits of gradients that are still to arrive."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl import isa
from hypercast.rtl.config import Config
from hypercast.rtl.layouts import Issue

__all__ = ["ReductionCount"]


class ReductionCount(wiring.Component):
    """Outstanding REDUCE flits of this core: expected since reset minus arrived.

    GRADIENT adds ``cores * digits`` for each of its reduction rows that this core owns (row ``R``
    with ``R mod cores = core``), the row of its column sums included, two cycles after ``start``;
    no flit can be faster.

    Parameters
    ----------
    config : Config
        Configuration of the chip.

    Members
    -------
    core : In(dimensions)
        This core's address; constant.
    start : In(1)
        High for a cycle when a GRADIENT starts.
    issue : In(Issue)
        The GRADIENT; valid with ``start``.
    arrived : In(range(eject + 1))
        Digits that arrived in this cycle.
    busy : Out(1)
        High from the cycle after ``start`` until all digits have arrived.
    error : Out(1)
        High for the cycle after more digits arrived than were expected; the count is then zero.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "core": In(config.dimensions),
            "start": In(1),
            "issue": In(Issue),
            "arrived": In(range(config.eject + 1)),
            "busy": Out(1),
            "error": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        config = self._config
        m = Module()
        gradient = self.issue.view(isa.Opcode.GRADIENT)

        def owned_below(row: Value) -> Value:
            """Number of this core's rows below ``row``."""
            if config.dimensions == 0:
                return row
            return (row + ~self.core) >> config.dimensions

        sums = owned_below(gradient.sums_row + gradient.sums) - owned_below(gradient.sums_row)
        rows = Mux(gradient.ones, gradient.panels, gradient.panels * config.lanes)
        owned = Signal(range((config.lanes << len(gradient.panels)) + 1))
        digits = Signal.like(gradient.digits)
        counting = Signal()
        m.d.sync += [
            owned.eq(owned_below(gradient.first_row + rows) - owned_below(gradient.first_row)
                     + sums),
            digits.eq(gradient.digits),
            counting.eq(self.start),
        ]

        # One GRADIENT adds less than 2**21.
        outstanding = Signal(24)
        expected = Signal.like(outstanding)
        m.d.comb += [
            expected.eq(outstanding + Mux(counting, owned * digits << config.dimensions, 0)),
            self.busy.eq(counting | (outstanding != 0)),
        ]
        m.d.sync += self.error.eq(self.arrived > expected)
        with m.If(self.arrived > expected):
            m.d.sync += outstanding.eq(0)
        with m.Else():
            m.d.sync += outstanding.eq(expected - self.arrived)
        return m
