# SPDX-License-Identifier: BSD-2-Clause
"""What turns exponentials to sigmoids."""

from amaranth.hdl import Cat, Module, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.vector.interpolation import Interpolation
from hypercast.rtl.vector.loss_layouts import EXPONENTIAL_WIDTH, RECIPROCAL_WIDTH, WEIGHT_WIDTH
from hypercast.rtl.vector.pipeline import delay_by

__all__ = ["SigmoidFactor"]

#: ``1 / (1 + i / 64)`` with 17 fraction bits.
_TABLE = tuple(round((1 << 17) * 64 / (64 + i)) for i in range(65))


class SigmoidFactor(wiring.Component):
    """Computes ``weight / (1 + e)`` in every lane, as ``arithmetic.sigmoid_gradient`` defines it.

    Parameters
    ----------
    lanes : int
        Values handled together.

    Members
    -------
    i : In(lanes values of EXPONENTIAL_WIDTH)
        ``e`` with 16 fraction bits, at most 1.
    weight : In(WEIGHT_WIDTH)
        With 15 fraction bits; valid with ``i``.
    o : Out(lanes values of RECIPROCAL_WIDTH)
        With 17 fraction bits, ``LATENCY`` cycles after ``i``.
    fault : Out(1)
        High while an entry of a table that was read had changed.
    """

    #: Cycles from ``i`` to ``o``.
    LATENCY = Interpolation.LATENCY + 1

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        super().__init__({
            "i": In(data.ArrayLayout(unsigned(EXPONENTIAL_WIDTH), lanes)),
            "weight": In(WEIGHT_WIDTH),
            "o": Out(data.ArrayLayout(unsigned(RECIPROCAL_WIDTH), lanes)),
            "fault": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        weight = delay_by(m, self.weight, Interpolation.LATENCY)
        tables = []
        for lane in range(self._lanes):
            m.submodules[f"table_{lane}"] = table = Interpolation(_TABLE, 10)
            tables.append(table)
            m.d.comb += table.i.eq(self.i[lane])
            m.d.sync += self.o[lane].eq((table.o * weight) >> 15)
        m.d.comb += self.fault.eq(Cat(table.fault for table in tables).any())
        return m
