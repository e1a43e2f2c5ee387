# SPDX-License-Identifier: BSD-2-Clause
"""The reader of lists of ranks."""

from functools import partial

from amaranth.hdl import Assert, Assume, Module, Mux, Signal

from hypercast.proofs.configuration import small
from hypercast.proofs.inside import Inside
from hypercast.proofs.proof import Proof
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import constant, is_held
from hypercast.rtl.lib.rank_reader import RankReader

__all__ = ["PROOFS"]

#: The longest list, and how often it is read at most.
_ROWS, _PANELS = 7, 3


def _bench(lanes: int) -> Bench:
    """It asks for what the ranks take, and takes all of it, list by list."""
    m = Module()
    config = small(lanes=lanes)
    dut = RankReader(config)
    inside = Inside(m, dut)
    command, words = dut.source.command, dut.source.words
    asked, arrives = command.valid & command.ready, words.valid & words.ready
    taken = dut.o.valid & dut.o.ready
    each = config.ranks_in_word
    rows, left, panels = dut.rows[:3], inside.signal("left"), inside.signal("panels")
    list_words = Signal(range(_ROWS + 1))
    lists = Signal(range(_PANELS + 1))  # that are not yet taken to their end
    owed = Signal(range(_ROWS * _PANELS + 1))  # words that were asked for and have not come
    place = rows - left
    m.d.comb += list_words.eq((rows + (each - 1)) // each)
    m.d.sync += owed.eq(owed + Mux(asked, list_words, 0) - arrives)
    with m.If(dut.start):
        m.d.sync += lists.eq(dut.panels)
    with m.Elif(taken & (left == 1)):
        m.d.sync += lists.eq(lists - 1)
    constant(m, dut.rows)
    constant(m, dut.address)
    m.d.comb += [
        Assume((dut.rows >= 1) & (dut.rows <= _ROWS)), Assume(dut.panels <= _PANELS),
        Assume(~dut.start | (lists == 0)), Assume(~words.valid | (owed != 0)),
        Assume(is_held(m, words)),
        Assert(is_held(m, command)), Assert(is_held(m, dut.o)),
        Assert(~command.valid | (command.p.count == list_words)),
        Assert(~dut.o.valid | (lists != 0)),
        # What is asked for and to be asked for is what the ranks take that are left.
        Assert(panels <= lists),
    ]
    full, begun = (inside.signal(f"unpacker.{name}") for name in ("full", "begun"))
    with m.If(lists == 0):
        m.d.comb += [Assert(owed == 0), Assert(~full), Assert(~begun)]
    with m.Else():
        m.d.comb += [
            Assert((left >= 1) & (left <= rows)),
            Assert(owed + panels * list_words + full + place // each == lists * list_words),
            Assert(begun == (place % each != 0)), Assert(~begun | full),
        ]
        if each > 1:
            m.d.comb += Assert(~full | (inside.signal("unpacker.place") == place % each))
    return Bench(
        m, [dut.start, dut.rows, dut.panels, dut.address, command.ready, words.valid,
            words.payload, dut.o.ready],
        [(lists == 1) & (owed == 0) & full, (lists == 2) & (left == 1) & full,
         dut.o.valid & ~dut.o.ready & command.valid])


PROOFS = [
    Proof(block="rank_reader", size=f"{lanes * 8 // 32} ranks a word, lists of up to {_ROWS}",
          bench=partial(_bench, lanes),
          claim="asks for the words of each list, and takes them all; each list begins with a word")
    for lanes in (4, 8, 16)
]
