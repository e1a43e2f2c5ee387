# SPDX-License-Identifier: BSD-2-Clause
"""Powers of two with negative exponents, by table and interpolation."""

from amaranth.hdl import Cat, Module, Mux, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.isa import SHIFT_WIDTH
from hypercast.rtl.vector.interpolation import Interpolation
from hypercast.rtl.vector.pipeline import delay_by

__all__ = ["Exponential"]

#: log2(e) with 14 fraction bits.
_LOG2_E = 23637
#: ``2**-(i / 64)`` with 16 fraction bits.
_TABLE = tuple(round(2 ** (16 - i / 64)) for i in range(65))


class Exponential(wiring.Component):
    """Computes ``exp(-d)`` in every lane, as ``arithmetic.softmax_gradient`` defines it.

    Parameters
    ----------
    lanes : int
        Values handled together.
    element_width : int
        Bits of a distance.

    Members
    -------
    i : In(lanes values of element_width)
        Distances ``d``, unsigned.
    shift : In(SHIFT_WIDTH)
        Distances are in units of ``2 ** (10 - shift)``; held while values are under way.
    bits : Out(lanes values of element_width + 23)
        ``d`` of ``BITS_LATENCY`` cycles ago, times log2(e), with 12 fraction bits.
    o : Out(lanes values of 17)
        ``2**-bits`` with 16 fraction bits, ``LATENCY`` cycles after ``i``.
    fault : Out(1)
        High while an entry of a table that was read had changed.
    """

    #: Cycles from ``i`` to ``bits``.
    BITS_LATENCY = 3
    #: Cycles from ``i`` to ``o``.
    LATENCY = BITS_LATENCY + Interpolation.LATENCY + 1

    def __init__(self, lanes: int, element_width: int) -> None:
        self._lanes = lanes
        self._element_width = element_width
        super().__init__({
            "i": In(data.ArrayLayout(unsigned(element_width), lanes)),
            "shift": In(SHIFT_WIDTH),
            "bits": Out(data.ArrayLayout(unsigned(element_width + 23), lanes)),
            "o": Out(data.ArrayLayout(unsigned(17), lanes)),
            "fault": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        tables = []
        for lane in range(self._lanes):
            bits = self.bits[lane]
            product = Signal(self._element_width + 15)
            coarse = Signal.like(bits)
            m.d.sync += [
                product.eq(self.i[lane] * _LOG2_E),
                coarse.eq((product << 8) >> (self.shift[3:] << 3)),
                bits.eq(coarse >> self.shift[:3]),
            ]

            # A table per lane: no kind of RAM has a read port for every lane.
            m.submodules[f"table_{lane}"] = table = Interpolation(_TABLE, 6)
            whole = Mux(bits[17:].any(), 31, bits[12:17])
            tables.append(table)
            m.d.comb += table.i.eq(bits[:12])
            m.d.sync += self.o[lane].eq(table.o >> delay_by(m, whole, Interpolation.LATENCY))
        m.d.comb += self.fault.eq(Cat(table.fault for table in tables).any())
        return m
