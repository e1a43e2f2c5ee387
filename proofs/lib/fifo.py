# SPDX-License-Identifier: BSD-2-Clause
"""Amaranth's FIFOs, which blocks rely on."""

from functools import partial

from amaranth.hdl import Assert, Module, Mux, Signal, Value, ValueLike
from amaranth.lib.fifo import SyncFIFO, SyncFIFOBuffered

from hypercast.proofs.followed import Followed
from hypercast.proofs.inside import Inside
from hypercast.proofs.proof import Proof
from hypercast.proofs.solver import Bench

__all__ = ["PROOFS", "assert_buffered_fifo", "assert_fifo", "place"]


def place(start: Value, offset: ValueLike, depth: int) -> Value:
    """``start + offset`` in a ring of ``depth`` places; both are below it."""
    total = start + offset
    return Mux(total >= depth, total - depth, total)


def _assert_pointers(m: Module, inside: Inside, path: str, depth: int, level: Value) -> Signal:
    consume, produce = inside.signal(f"{path}consume"), inside.signal(f"{path}produce")
    m.d.comb += [
        Assert(consume < depth), Assert(produce < depth), Assert(level <= depth),
        Assert(produce == place(consume, Mux(level == depth, 0, level), depth)),
    ]
    return consume


def assert_fifo(m: Module, inside: Inside, path: str, depth: int, followed: Followed,
                ahead: Value | None = None) -> None:
    """The invariant of a ``SyncFIFO`` in a part of a block.

    Parameters
    ----------
    m : Module
        The bench.
    inside : Inside
        The block.
    path : str
        Names of the part, each with a dot behind it; empty for the block itself.
    depth : int
        Words it holds.
    followed : Followed
        Words inside.
    ahead : Value or None
        Words in the FIFO that leave before that followed; None: as ``followed`` says.
    """
    level = inside.signal(f"{path}level")
    consume = _assert_pointers(m, inside, path, depth, level)
    ahead = followed.ahead if ahead is None else ahead
    word = inside.word(f"{path}storage", place(consume, ahead, depth))
    m.d.comb += Assert(~(followed.active & (ahead < level)) | (word == followed.word))


def assert_buffered_fifo(m: Module, inside: Inside, path: str, depth: int,
                         followed: Followed) -> None:
    """Assert the invariant of a ``SyncFIFOBuffered``; ``followed`` is of all words inside."""
    level, ready = inside.signal(f"{path}inner_level"), inside.signal(f"{path}r_rdy")
    data = inside.signal(f"{path}r_data")
    consume = _assert_pointers(m, inside, path, depth - 1, level)
    ahead = followed.ahead - ready
    word = inside.word(f"{path}storage", place(consume, ahead[:len(followed.ahead)], depth - 1))
    m.d.comb += Assert(followed.count == level + ready)
    with m.If(followed.active):
        with m.If(ready & (followed.ahead == 0)):
            m.d.comb += Assert(data == followed.word)
        with m.Else():
            m.d.comb += Assert(word == followed.word)


def _between(dut: SyncFIFO | SyncFIFOBuffered) -> tuple[Module, Inside, Followed, Bench]:
    """A FIFO and a word that is followed."""
    m = Module()
    inside = Inside(m, dut)
    followed = Followed(m, dut.depth, enters=dut.w_en & dut.w_rdy, word=dut.w_data,
                        leaves=dut.r_en & dut.r_rdy)
    m.d.comb += Assert(~(dut.r_rdy & followed.next) | (dut.r_data == followed.word))
    full = followed.active & (followed.ahead == dut.depth - 1)
    return m, inside, followed, Bench(
        m, [followed.choose, dut.w_en, dut.w_data, dut.r_en], [~dut.w_rdy, full])


def _fifo(depth: int) -> Bench:
    dut = SyncFIFO(width=2, depth=depth)
    m, inside, followed, bench = _between(dut)
    m.d.comb += [
        Assert(dut.level == followed.count),
        Assert(dut.w_rdy == (followed.count != depth)),
        Assert(dut.r_rdy == (followed.count != 0)),
    ]
    assert_fifo(m, inside, "", depth, followed)
    return bench


def _buffered_fifo(depth: int) -> Bench:
    dut = SyncFIFOBuffered(width=2, depth=depth)
    m, inside, followed, bench = _between(dut)
    m.d.comb += [
        Assert(dut.level == followed.count),
        Assert(dut.w_rdy | (followed.count >= depth - 1)),
    ]
    assert_buffered_fifo(m, inside, "", depth, followed)
    return bench


PROOFS = [
    *(Proof(block="fifo", size=f"depth {depth}", bench=partial(_fifo, depth),
            claim="loses nothing, keeps the order, and its flags say how much is inside")
      for depth in (2, 3, 4, 8)),
    *(Proof(block="fifo", size=f"buffered, depth {depth}", bench=partial(_buffered_fifo, depth),
            claim="loses nothing, keeps the order, and refuses words only if one or none fits")
      for depth in (3, 4, 8)),
]
