# SPDX-License-Identifier: BSD-2-Clause
"""Packs rows of mask bits into memory words."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl.config import Config

__all__ = ["MaskPacker"]


class MaskPacker(wiring.Component):
    """Collects ``config.mask_rows`` rows of mask bits, first row lowest, into a word.

    Parameters
    ----------
    config : Config
        Gives ``lanes`` and ``word_width``.

    Members
    -------
    i : In(lanes)
        A row's bits.
    push : In(1)
        Takes ``i``; only while ``o.valid`` is low.
    last : In(1)
        With ``push``: the list ends, the rest of the word stays zero.
    o : Out(stream of word_width)
        The words; a word is valid in the cycle after its last row.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "i": In(config.lanes),
            "push": In(1),
            "last": In(1),
            "o": Out(stream.Signature(config.word_width)),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        lanes, rows = self._config.lanes, self._config.mask_rows
        row = Signal(range(rows))
        with m.If(self.push):
            m.d.sync += [
                self.o.payload.word_select(row, lanes).eq(self.i),
                row.eq(row + 1),
                self.o.valid.eq(self.last | (row == rows - 1)),
            ]
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += [self.o.valid.eq(0), self.o.payload.eq(0), row.eq(0)]
        return m
