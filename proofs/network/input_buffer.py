"""A router's input buffer."""

from functools import partial

from amaranth.hdl import Assert, Assume, Cat, Module, Signal

from hypercast.proofs.configuration import small
from hypercast.proofs.proof import Proof
from hypercast.proofs.requests import is_top
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import constant, past
from hypercast.rtl.layouts import flit
from hypercast.rtl.network import routing
from hypercast.rtl.network.input_buffer import InputBuffer

__all__ = ["PROOFS"]


def _bench(plane, arrival):
    """The n-th flit in is the n-th out, whole, and each output it wants serves it once.

    At most one request is favoured, and none of the oldest.
    """
    m = Module()
    config = small(dimensions=2, planes=2)
    m.submodules.dut = dut = InputBuffer(config, plane, arrival)
    chosen, written, left = Signal(3), Signal(4), Signal(4)
    constant(m, chosen)
    m.d.comb += [Assume(~dut.write | dut.room), Assume((dut.served & ~dut.requests) == 0)]
    kept, served = Signal(flit(config)), Signal.like(dut.served)
    m.d.sync += [written.eq(written + dut.write), left.eq(left + dut.leaves)]
    with m.If(dut.write & (written == chosen)):
        m.d.sync += kept.eq(dut.flit)
    m.d.comb += [
        Assert(left <= written),
        Assert(written - left <= config.buffer_depth),
        Assert(dut.room == (written - left != config.buffer_depth)),
        Assert(~dut.favoured.any() | ((dut.favoured == dut.requests) & ~is_top(dut.age))),
        Assert((dut.favoured & (dut.favoured - 1)) == 0),
    ]
    masks = routing.split_masks(plane, config.dimensions)
    wanted = Cat(kept.mask[0], ((kept.mask & masks[dimension]).any() for dimension in dut.outputs))
    with m.If((written > chosen) & (left == chosen)):
        m.d.comb += Assert(dut.requests == wanted & ~served)
        m.d.sync += served.eq(served | dut.served)
        m.d.comb += Assert(dut.leaves == ((served | dut.served) == wanted))
    with m.If(past(m, (written > chosen) & (left == chosen) & dut.requests.any())):
        m.d.comb += Assert(dut.head.as_value() == kept.as_value())
    return Bench(m, [chosen, dut.write, dut.flit, dut.served, dut.epoch],
                 [(chosen == 2) & (left == 3) & served.all()])


PROOFS = [
    Proof(block="input_buffer",
          size=f"plane {plane}, {'injected' if arrival is None else f'from dimension {arrival}'}",
          claim="every flit leaves once, whole and in order, served once by each output it wants",
          bench=partial(_bench, plane, arrival), cycles=9, limit="no invariant yet")
    for plane, arrival in ((0, None), (0, 0), (0, 1), (1, 1))
]
