# SPDX-License-Identifier: BSD-2-Clause
"""Follows an arbitrary word on its way, so that what holds for it holds for every word."""

from amaranth.hdl import Assert, Module, Signal, Value

__all__ = ["Followed"]


class Followed:
    """One word, chosen freely whenever none is followed, in a place that words leave in order.

    Asserts that no more words leave than came, and that there is always room.

    Parameters
    ----------
    m : Module
        The bench.
    most : int
        Words there is room for.
    enters, leaves : Value
        A word comes in, and goes out, in this cycle.
    word : Value
        The word that comes in.

    Attributes
    ----------
    choose : Signal
        A free input.
    count : Signal
        Words inside.
    active : Signal
        A word is followed; ``word`` is what came in, ``ahead`` the words inside that leave first.
    next : Value
        The word that leaves next is followed.
    """

    def __init__(self, m: Module, most: int, *, enters: Value, word: Value, leaves: Value) -> None:
        self.choose = Signal(name="choose")
        self.count = Signal(range(most + 2), name="inside")
        self.active = Signal(name="followed")
        self.ahead = Signal(range(most + 1), name="ahead")
        self.word = Signal.like(word, name="kept")
        self.next = self.active & (self.ahead == 0)
        m.d.sync += self.count.eq(self.count + enters - leaves)
        with m.If(~self.active):
            m.d.sync += [self.active.eq(enters & self.choose), self.word.eq(word),
                         self.ahead.eq(self.count - leaves)]
        with m.Elif(leaves):
            m.d.sync += [self.active.eq(self.ahead != 0), self.ahead.eq(self.ahead - 1)]
        m.d.comb += [
            Assert(self.count <= most),
            Assert(~leaves | (self.count != 0)),
            Assert(~self.active | (self.ahead < self.count)),
        ]
