# SPDX-License-Identifier: BSD-2-Clause
"""Adds up the right operand's words of a GRADIENT's first tile."""

from amaranth.hdl import Module, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import accumulator_row

__all__ = ["ColumnSums"]


class ColumnSums(wiring.Component):
    """Sums of the right operand's words, lane by lane, as they enter the array.

    They are the gradient of a bias. As a GRADIENT of their own they would take the array as long
    as a whole tile does.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    start : In(1)
        Begins a tile to be summed; not while sums wait at ``o``.
    valid : In(1), word : In(P elements)
        A word of the tile.
    close : In(1)
        The tile has ended: a word of this cycle is of the next one. ``close`` and ``word`` of other
        tiles have no effect.
    o : Out(stream of accumulator_row(config))
        The sums, from the cycle after ``close`` on. Exact for up to ``2**20`` words.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "start": In(1),
            "valid": In(1),
            "word": In(data.ArrayLayout(signed(config.element_width), config.lanes)),
            "close": In(1),
            "o": Out(stream.Signature(accumulator_row(config))),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        width = min(self._config.element_width + 20, self._config.accumulator_width)
        sums = Signal(data.ArrayLayout(signed(width), self._config.lanes))
        adding = Signal()
        with m.If(self.start):
            m.d.sync += [adding.eq(1), sums.eq(0)]
        with m.Elif(adding & self.close):
            m.d.sync += [adding.eq(0), self.o.valid.eq(1)]
        with m.Elif(adding & self.valid):
            m.d.sync += [total.eq(total + element)
                         for total, element in zip(sums, self.word, strict=True)]
        with m.Elif(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        m.d.comb += [value.eq(total) for value, total in zip(self.o.payload, sums, strict=True)]
        return m
