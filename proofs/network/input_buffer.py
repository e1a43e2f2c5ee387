# SPDX-License-Identifier: BSD-2-Clause
"""A router's input buffer."""

from functools import partial

from amaranth.hdl import Assert, Assume, Cat, Module, Mux, Signal

from hypercast.proofs.configuration import small
from hypercast.proofs.followed import Followed
from hypercast.proofs.inside import Inside
from hypercast.proofs.lib.fifo import assert_fifo
from hypercast.proofs.proof import Proof
from hypercast.proofs.requests import is_top
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import past
from hypercast.rtl.layouts import flit
from hypercast.rtl.network import routing
from hypercast.rtl.network.input_buffer import InputBuffer

__all__ = ["PROOFS"]


def _bench(plane: int, arrival: int | None) -> Bench:
    """The n-th flit in is the n-th out, whole, and each output it wants serves it once.

    At most one request is favoured, and none of the oldest.
    """
    m = Module()
    config = small(dimensions=2, planes=2)
    depth = config.buffer_depth
    dut = InputBuffer(config, plane, arrival)
    inside = Inside(m, dut)
    followed = Followed(m, depth, enters=dut.write, word=dut.flit.as_value(), leaves=dut.leaves)
    m.d.comb += [
        Assume(~dut.write | dut.room), Assume((dut.served & ~dut.requests) == 0),
        Assert(dut.room == (followed.count != depth)),
        Assert(~dut.favoured.any() | ((dut.favoured == dut.requests) & ~is_top(dut.age))),
        Assert((dut.favoured & (dut.favoured - 1)) == 0),
    ]
    kept = flit(config)(followed.word)
    beyond = routing.first_hops(plane, config.dimensions)
    wanted = Cat(kept.destinations[0], (
        (kept.destinations & beyond[dimension]).any() for dimension in dut.outputs))
    served = Signal.like(dut.served)
    with m.If(followed.next):
        m.d.comb += [
            Assert(dut.requests == wanted & ~served),
            Assert(dut.leaves == ((served | dut.served) == wanted)),
        ]
        m.d.sync += served.eq(Mux(dut.leaves, 0, served | dut.served))
    m.d.comb += Assert((served & ~wanted) == 0)
    with m.If(past(m, followed.next & dut.requests.any())):
        m.d.comb += Assert(dut.head.as_value() == followed.word)

    # A flit stays in the FIFO for a cycle after it has left the queue of requests.
    leaving = inside.signal("r_en")
    held = inside.signal("queue.held")
    entries = [inside.signal(f"queue.entry_{index}") for index in range(depth)]
    m.d.comb += [
        Assert(inside.signal("fifo.level") == followed.count + leaving),
        Assert((held & (held + 1)) == 0), Assert(sum(held) == followed.count),
        Assert(followed.next | (served == 0)),
    ]
    for index, entry in enumerate(entries):
        m.d.comb += Assert(held[index] | (entry == 0))
        with m.If(followed.active & (followed.ahead == index) & (index != 0)):
            m.d.comb += Assert(entry == wanted)
    assert_fifo(m, inside, "fifo.", depth + 1, followed, followed.ahead + leaving)
    return Bench(m, [followed.choose, dut.write, dut.flit, dut.served, dut.frame],
                 [followed.active & (followed.ahead == depth - 1), ~dut.room])


PROOFS = [
    Proof(block="input_buffer",
          size=f"plane {plane}, {'injected' if arrival is None else f'from dimension {arrival}'}",
          claim="every flit leaves once, whole and in order, served once by each output it wants",
          bench=partial(_bench, plane, arrival))
    for plane, arrival in ((0, None), (0, 0), (0, 1), (1, 1))
]
