# SPDX-License-Identifier: BSD-2-Clause
"""Turns a stream of memory words into a stream of records."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from hypercast.errors import InputError

__all__ = ["Unpacker"]


class Unpacker(wiring.Component):
    """Cuts words into records, or joins words to records, low bits first.

    Sustains a record per cycle if words are at least as wide, else a word per cycle. The first
    record follows its (last) word by one cycle. ``i.ready`` depends on ``o.ready`` and ``flush``
    in the same cycle.

    Parameters
    ----------
    word_width, record_width : int
        Bits; the larger must be a multiple of the smaller.

    Members
    -------
    i : In(stream of word_width)
        Words. A list of records begins on a word boundary.
    o : Out(stream of record_width)
        Records.
    flush : In(1)
        High for a cycle to skip the rest of a word that has been begun, because its list has
        ended: with the transfer of the list's last record, or later, but before a record of the
        next list is taken. A word of which no record has been taken is kept. Without effect when
        records are as wide as words or wider: lists of such records end on a word boundary.

    Raises
    ------
    InputError
        If a width is not positive, or none is a multiple of the other.
    """

    def __init__(self, word_width: int, record_width: int) -> None:
        if word_width < 1 or record_width < 1:
            raise InputError(f"widths must be positive, not {word_width} and {record_width}")
        if word_width % record_width and record_width % word_width:
            raise InputError(f"word width {word_width} and record width {record_width}: "
                             "none is a multiple of the other")
        self._word_width = word_width
        self._record_width = record_width
        super().__init__({
            "i": In(stream.Signature(word_width)),
            "o": Out(stream.Signature(record_width)),
            "flush": In(1),
        })

    def elaborate(self, platform: object) -> Module:
        if self._word_width >= self._record_width:
            return self._cut()
        return self._join()

    def _cut(self) -> Module:
        m = Module()
        records = self._word_width // self._record_width
        word = Signal(self._word_width)
        place = Signal(range(records))
        full = Signal()   # ``word`` has records left
        begun = Signal()  # one has been taken
        taken, used_up = Signal(), Signal()
        m.d.comb += [
            self.o.valid.eq(full),
            self.o.payload.eq(word.word_select(place, self._record_width)),
            taken.eq(full & self.o.ready),
            used_up.eq((taken & (place == records - 1)) | (self.flush & (taken | begun))),
            self.i.ready.eq(~full | used_up),
        ]
        with m.If(taken):
            m.d.sync += [place.eq(place + 1), begun.eq(1)]
        with m.If(used_up):
            m.d.sync += [full.eq(0), begun.eq(0)]
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += [word.eq(self.i.payload), place.eq(0), full.eq(1)]
        return m

    def _join(self) -> Module:
        m = Module()
        words = self._record_width // self._word_width
        record = Signal(self._record_width)
        held = Signal(range(words + 1))  # words of ``record`` that have arrived
        begun = Signal.like(held)
        m.d.comb += [
            self.o.valid.eq(held == words),
            self.o.payload.eq(record),
            self.i.ready.eq(~self.o.valid | self.o.ready),
            begun.eq(held),
        ]
        with m.If(self.o.valid & self.o.ready):
            m.d.comb += begun.eq(0)
        m.d.sync += held.eq(begun)
        with m.If(self.i.valid & self.i.ready):
            shifted = record >> self._word_width
            m.d.sync += [
                record.eq(shifted | (self.i.payload << self._record_width - self._word_width)),
                held.eq(begun + 1),
            ]
        return m
