# SPDX-License-Identifier: BSD-2-Clause
"""The sending end of a link."""

from collections.abc import Sequence
from functools import partial

from amaranth.hdl import Assert, Assume, Cat, Module, Signal, Value

from hypercast.proofs.configuration import small
from hypercast.proofs.inside import Inside
from hypercast.proofs.lib.priority_arbiter import order
from hypercast.proofs.proof import Proof
from hypercast.proofs.requests import assert_one_hot, in_effect, is_top, waits
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import past
from hypercast.rtl.layouts import flit
from hypercast.rtl.network import routing
from hypercast.rtl.network.link_output import LinkOutput

__all__ = ["PROOFS"]

#: Cycles from a grant until its credit can be granted again, if the neighbour does not wait.
_ROUND_TRIP = 4


def _between(dimension: int, planes: Sequence[int]) -> tuple[
        LinkOutput, Module, list[Value], list[Signal], list[Value], dict[tuple[int, int], Value]]:
    """A link's end and its neighbours.

    Returns block, module, inputs, flits of each plane that the neighbour holds, which requests are
    of the highest priority, and who comes before whom among those.
    """
    m = Module()
    config = small(dimensions=2, planes=2)
    dut = LinkOutput(config, dimension, planes)
    inside = Inside(m, dut)
    before = order(m, inside, "arbiter.", len(planes))
    link, cores = dut.link, config.dimensions
    assert_one_hot(m, dut.grants, dut.requests)
    urgent = [dut.requests[index] & is_top(priority)
              for index, priority in enumerate(in_effect(m, dut.ages, dut.favoured))]
    requested, granted = past(m, dut.requests), past(m, dut.grants)
    sent = Signal(flit(config))
    beyond = [routing.first_hops(plane, cores)[dimension] for plane in planes]
    for index, (one, plane) in enumerate(zip(dut.flits, planes, strict=True)):
        m.d.comb += Assume(one.plane == plane)
        m.d.comb += Assume(~requested[index] | (one.destinations & beyond[index]).any())
        with m.If(granted[index]):
            m.d.comb += [
                sent.eq(one), sent.source.eq(one.source ^ 1 << dimension),
                sent.destinations.eq(
                    routing.hop(one.destinations & beyond[index], dimension, cores)),
            ]
    m.d.comb += Assert(link.valid == past(m, granted.any()))
    m.d.comb += Assert(link.parity == past(m, Cat(link.valid, link.flit).xor()))
    expected = past(m, sent)
    with m.If(link.valid):
        m.d.comb += Assert(link.flit.as_value() == expected)
    held_flits = []
    for plane in range(config.planes):
        count = Signal(range(config.buffer_depth + 2), name=f"held_{plane}")
        m.d.sync += count.eq(count + (link.valid & (link.flit.plane == plane))
                             - link.credit[plane])
        credits = inside.signal(f"credits_{plane}")
        own = Cat(granted[index] for index, other in enumerate(planes) if other == plane).any()
        under_way = own + (link.valid & (link.flit.plane == plane))
        m.d.comb += [
            Assert((credits & (credits + 1)) == 0),
            Assert(count + under_way + sum(credits) == config.buffer_depth),
        ]
        held_flits.append(count)
    inputs = [dut.requests, link.credit, *dut.ages, dut.favoured, *dut.flits]
    return dut, m, inputs, held_flits, urgent, before


def _grants_of(dut: LinkOutput, planes: Sequence[int], plane: int) -> Value:
    return Cat(dut.grants[index] for index, own in enumerate(planes) if own == plane).any()


def _sends(dimension: int, planes: Sequence[int]) -> Bench:
    """What is granted is sent, for the cores beyond only; credits are kept; the urgent take turns.

    The neighbour returns credits whenever it likes.
    """
    dut, m, inputs, held_flits, urgent, before = _between(dimension, planes)
    for plane, count in enumerate(held_flits):
        m.d.comb += Assume(~dut.link.credit[plane] | (count != 0))
    passed = [waits(m, urgent[index], dut.grants[index], planes.count(plane) - 1,
                     _grants_of(dut, planes, plane))
              for index, plane in enumerate(planes)]
    for index, plane in enumerate(planes):
        others = (before[other, index] for other, its in enumerate(planes)
                  if other != index and its == plane)
        m.d.comb += Assert(passed[index] + sum(others) < planes.count(plane))
    full = Cat(count == small().buffer_depth for count in held_flits).all()
    return Bench(m, inputs, [full, *(count == planes.count(plane) - 1
                                     for count, plane in zip(passed, planes, strict=True))])


def _serves_in_time(dimension: int, planes: Sequence[int]) -> Bench:
    """An urgent request waits a bounded number of cycles if the neighbour returns credits at once.

    Each other request comes first at most once. Besides, its plane may be without credits: for
    less than ``_ROUND_TRIP`` cycles at first, and after each flit of its own.
    """
    dut, m, inputs, held_flits, urgent, _ = _between(dimension, planes)
    for plane in range(len(held_flits)):
        arrived = dut.link.valid & (dut.link.flit.plane == plane)
        m.d.comb += Assume(dut.link.credit[plane] == past(m, past(m, arrived)))
    passed = [waits(m, urgent[index], dut.grants[index],
                    planes.count(plane) * (_ROUND_TRIP - 1) + len(planes) - 1)
             for index, plane in enumerate(planes)]
    return Bench(m, inputs, [count == _ROUND_TRIP - 1 for count in passed])


#: Dimension of the link, and planes of the buffers that share it.
_SHARED = ((0, (0, 1)), (1, (0, 0, 1)), (0, (0, 0, 1, 1)))

PROOFS = [
    *(Proof(block="link_output", size=f"buffers of planes {', '.join(map(str, planes))}",
            claim="sends what it granted, for the cores beyond only; keeps credits; takes turns",
            bench=partial(_sends, dimension, planes))
      for dimension, planes in _SHARED),
    *(Proof(block="link_output", size=f"buffers of planes {', '.join(map(str, planes))}",
            claim="serves the urgent in time if credits return at once",
            bench=partial(_serves_in_time, 1, planes), cycles=16,
            limit="the invariant would have to follow every credit", slow=len(planes) > 2)
      for _, planes in _SHARED),
]
