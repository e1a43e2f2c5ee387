"""Which outputs the flits of an input buffer ask for, in order, in registers."""

from amaranth.hdl import Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["RequestQueue"]


class RequestQueue(wiring.Component):
    """A queue of requests that moves towards its head, which is a register.

    Arbiters need the head's requests early in the cycle, so these neither come out of a memory nor
    depend on its pointers.

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
    present : Out(1)
        High if there is an entry. A register.
    requests : Out(width)
        What the head still asks for; zero if there is none. Registers.
    served : In(width)
        What the head need not ask for any more, from the next cycle on.
    leave : In(1)
        The head goes; only while ``present``.
    """

    def __init__(self, depth, width):
        self._depth = depth
        super().__init__({
            "write": In(1),
            "wanted": In(width),
            "room": Out(1),
            "present": Out(1),
            "requests": Out(width),
            "served": In(width),
            "leave": In(1),
        })

    def elaborate(self, platform):
        m = Module()
        depth = self._depth
        held = Signal(depth)
        entries = [Signal.like(self.wanted, name=f"entry_{index}") for index in range(depth)]
        m.d.comb += [
            self.room.eq(~held[-1]),
            self.present.eq(held[0]),
            self.requests.eq(entries[0]),
        ]
        # Entries that are not held are zero. One is written behind the last, which may be moving.
        kept = [entries[0] & ~self.served, *entries[1:]]
        following = [*zip(held[1:], entries[1:], strict=True), (Const(0), Const(0))]
        for index, (holds, moved) in enumerate(following):
            before = held[index - 1] if index else Const(1)
            write = self.write & Mux(self.leave, held[index] & ~holds, before & ~held[index])
            m.d.sync += [
                held[index].eq(Mux(self.leave, holds, held[index]) | write),
                entries[index].eq(
                    Mux(self.leave, moved, kept[index]) | Mux(write, self.wanted, 0)),
            ]
        return m
