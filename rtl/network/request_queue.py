# SPDX-License-Identifier: BSD-2-Clause
"""Which outputs the flits of an input buffer ask for, in order, in registers."""

from amaranth.hdl import Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["RequestQueue"]


class RequestQueue(wiring.Component):
    """A queue of requests that moves towards its head, which is a register.

    Arbiters need the head's requests early in the cycle, so these neither come out of a memory nor
    depend on its pointers. The head leaves when all it asked for has been served.

    Parameters
    ----------
    depth : int
        Entries, at least 1.
    width : int
        Outputs that an entry can ask for.

    Members
    -------
    write : In(1), wanted : In(width)
        Puts an entry behind the others; only while ``room``.
    room : Out(1)
        High if there is room. A register.
    present, followed : Out(1)
        High if there is an entry, and if there is another behind it. Registers.
    requests : Out(width)
        What the head still asks for; zero if there is none. Registers.
    served : In(width)
        Requests of the head that are served in this cycle.
    leaves : Out(1)
        High in the cycle in which the head leaves. Combinational.
    """

    def __init__(self, depth: int, width: int) -> None:
        self._depth = depth
        super().__init__({
            "write": In(1),
            "wanted": In(width),
            "room": Out(1),
            "present": Out(1),
            "followed": Out(1),
            "requests": Out(width),
            "served": In(width),
            "leaves": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        depth = self._depth
        held = Signal(depth)
        entries = [Signal.like(self.wanted, name=f"entry_{index}") for index in range(depth)]
        left, moves = Signal.like(self.requests), Signal()
        m.d.comb += [
            self.room.eq(~held[-1]),
            self.present.eq(held[0]),
            self.followed.eq(held[1:2]),
            self.requests.eq(entries[0]),
            left.eq(self.requests & ~self.served),
            moves.eq(~left.any()),
            self.leaves.eq(self.present & moves),
        ]
        # Entries that are not held are zero, so that an empty queue may move as well: whether the
        # head is there need not be known. One is written behind the last, moving or not.
        kept = [left, *entries[1:]]
        following = [*zip(held[1:], entries[1:], strict=True), (Const(0), Const(0))]
        for index, (holds, moved) in enumerate(following):
            joins = self.write & ~holds & (held[index] if index else 1)
            stays = self.write & ~held[index] & (held[index - 1] if index else 0)
            m.d.sync += [
                held[index].eq(Mux(moves, holds | joins, held[index] | stays)),
                entries[index].eq(Mux(moves, moved | Mux(joins, self.wanted, 0),
                                      kept[index] | Mux(stays, self.wanted, 0))),
            ]
        return m
