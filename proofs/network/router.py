# SPDX-License-Identifier: BSD-2-Clause
"""What a router promises between neighbours that keep the credit protocol, as proofs of its ports.

Flits are told apart by a tag in their payload. One or two arbitrary tags are watched, all other
traffic is free; as every tag may be the watched one, what holds for it holds for all flits.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from amaranth.hdl import Assert, Assume, Cat, Module, Signal, ValueLike
from amaranth.lib import data, stream, wiring

from hypercast.proofs.configuration import small
from hypercast.proofs.proof import Proof
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import constant, is_held, past
from hypercast.rtl.config import Config
from hypercast.rtl.layouts import flit
from hypercast.rtl.network import routing
from hypercast.rtl.network.age import AGES, FRAME_WIDTH
from hypercast.rtl.network.router import Router

__all__ = ["PROOFS"]

#: Payload bits that tell flits apart.
_TAG_WIDTH = 2


#: Frames that pass in a cycle here. Flits then are as old as it matters after a cycle, and a proof
#: of few cycles covers what ages do.
_FRAMES = AGES


def _assume_plain(m: Module, one: data.View, frame: ValueLike) -> None:
    """Few different payloads: the control does not look at them, and proofs get shorter.

    Flits are new when they come.
    """
    m.d.comb += Assume(
        Cat(one.payload[_TAG_WIDTH:], one.kind.as_value(), one.digit, one.index) == 0)
    m.d.comb += Assume(one.frame == frame)


def _between(config: Config) -> tuple[
        Router, Module, list[ValueLike], dict[tuple[int, int], Signal]]:
    """The router between a core and neighbours that may do all that the protocols allow.

    Returns router, module, its free inputs, and how many flits of each plane each neighbour holds.
    """
    m = Module()
    m.submodules.dut = dut = Router(config)
    frame = Signal(FRAME_WIDTH)
    m.d.sync += frame.eq(frame + _FRAMES)
    m.d.comb += dut.frame.eq(frame)
    m.d.comb += [Assume(is_held(m, dut.inject)), Assume(dut.inject.payload.source == 0)]
    _assume_plain(m, dut.inject.payload, 0)
    for port in dut.eject:
        m.d.comb += Assert(is_held(m, port))
    for dimension, link in enumerate(dut.incoming):
        _assume_plain(m, link.flit, frame)
        for plane in range(config.planes):
            _feed(m, config, link, dimension, plane)
    held_flits = {(dimension, plane): _receive(m, config, link, plane)
                  for dimension, link in enumerate(dut.outgoing) for plane in range(config.planes)}
    inputs = [dut.inject.valid, dut.inject.payload, *(port.ready for port in dut.eject),
              *(link.credit for link in dut.outgoing), *(link.valid for link in dut.incoming),
              *(link.flit for link in dut.incoming)]
    return dut, m, inputs, held_flits


def _feed(m: Module, config: Config, link: wiring.PureInterface, dimension: int,
          plane: int) -> None:
    """The neighbour sends what the routing lets come this way, and only with a credit."""
    later = routing.outputs(plane, dimension, config.dimensions)
    reach = sum(1 << other for other in later)
    possible = sum(1 << core for core in range(config.cores) if core & ~reach == 0)
    here = link.valid & (link.flit.plane == plane)
    credits = Signal(range(config.buffer_depth + 2), init=config.buffer_depth)
    m.d.sync += credits.eq(credits - here + link.credit[plane])
    m.d.comb += [
        Assume(~here | ((link.flit.destinations & ~possible) == 0)),
        Assume(~here | (credits != 0)),
        Assert(credits <= config.buffer_depth),
    ]


def _receive(m: Module, config: Config, link: wiring.PureInterface, plane: int) -> Signal:
    """The neighbour has room for what it gave credits for."""
    there = link.valid & (link.flit.plane == plane)
    count = Signal(range(config.buffer_depth + 2))
    m.d.sync += count.eq(count + there - link.credit[plane])
    m.d.comb += [Assume(~link.credit[plane] | (count != 0)), Assert(count <= config.buffer_depth)]
    return count


class _Watched:
    """An arbitrary flit that enters at most once, and where its copies have left the router.

    ``entered`` is high from the cycle after it came over ``arrival`` (injected: the number of
    dimensions); ``ejected`` and ``sent[d]`` are high from the cycle after its copies left. Asserts
    that each copy is of a flit that entered, wanted by its destinations, right, and the only one.
    """

    def __init__(self, m: Module, config: Config, dut: Router) -> None:
        self.tag = Signal(_TAG_WIDTH)
        constant(m, self.tag)
        self.flit = Signal(flit(config))
        self.arrival = Signal(range(config.dimensions + 1))
        self.entered, self.ejected = Signal(), Signal()
        self.sent = Signal(config.dimensions)
        #: The copies that must leave.
        self.local, self.beyond = Signal(), Signal(config.dimensions)
        self._watch_entry(m, dut)
        for port, eject in enumerate(dut.eject):
            self._watch_ejection(m, config, eject, port)
        for dimension, link in enumerate(dut.outgoing):
            self._watch_link(m, config, link, dimension)
        #: Whether all copies have left.
        self.done = self.entered & (self.ejected == self.local) & (self.sent == self.beyond)

    def _watch_entry(self, m: Module, dut: Router) -> None:
        entries = [*((link.valid, link.flit) for link in dut.incoming),
                   (dut.inject.valid & dut.inject.ready, dut.inject.payload)]
        enters = [valid & (one.payload == self.tag) for valid, one in entries]
        m.d.comb += Assume(sum(enters) + self.entered <= 1)
        for arrival, (enter, (_, one)) in enumerate(zip(enters, entries, strict=True)):
            with m.If(enter):
                m.d.sync += [self.entered.eq(1), self.arrival.eq(arrival), self.flit.eq(one),
                             self.flit.frame.eq(dut.frame)]

    def _watch_ejection(self, m: Module, config: Config, eject: stream.Interface,
                        port: int) -> None:
        expected = Signal(flit(config))
        m.d.comb += [expected.eq(self.flit), expected.destinations.eq(1), expected.frame.eq(0),
                     self.local.eq(self.flit.destinations[0])]
        with m.If(eject.valid & (eject.payload.payload == self.tag)):
            m.d.comb += [
                Assert(self.entered & ~self.ejected & self.local),
                Assert(eject.payload.as_value() == expected.as_value()),
                Assert(self.flit.plane % config.eject == port),
            ]
            with m.If(eject.ready):
                m.d.sync += self.ejected.eq(1)

    def _watch_link(self, m: Module, config: Config, link: wiring.PureInterface,
                    dimension: int) -> None:
        expected = Signal(flit(config))
        m.d.comb += [expected.eq(self.flit), expected.source.eq(self.flit.source ^ 1 << dimension),
                     self.beyond[dimension].eq(expected.destinations != 0)]
        with m.Switch(self.flit.plane):
            for plane in range(config.planes):
                with m.Case(plane):
                    mine = routing.first_hops(plane, config.dimensions)[dimension]
                    m.d.comb += expected.destinations.eq(
                        routing.hop(self.flit.destinations & mine, dimension, config.dimensions))
        with m.If(link.valid & (link.flit.payload == self.tag)):
            m.d.comb += [
                Assert(self.entered & ~self.sent[dimension] & self.beyond[dimension]),
                Assert(link.flit.as_value() == expected.as_value()),
            ]
            m.d.sync += self.sent[dimension].eq(1)


def _conserves(config: Config) -> Bench:
    """No flit is made up, changed, sent twice or elsewhere; credits are kept."""
    dut, m, inputs, held_flits = _between(config)
    watched = _Watched(m, config, dut)
    return Bench(m, [watched.tag, *inputs], [
        watched.done & watched.flit.destinations.all(),
        *(count == config.buffer_depth for count in held_flits.values())])


def _keeps_order(config: Config) -> Bench:
    """Two flits that came the same way in one plane leave everywhere in the order they came in."""
    dut, m, inputs, _ = _between(config)
    first, second = (_Watched(m, config, dut) for _ in range(2))
    m.d.comb += [Assume(first.tag != second.tag), Assume(first.entered | ~second.entered)]
    follows = Signal()
    m.d.comb += follows.eq(second.entered & (first.arrival == second.arrival)
                           & (first.flit.plane == second.flit.plane))
    m.d.comb += [
        Assert(~(follows & second.ejected & first.local) | first.ejected),
        Assert(~follows | (second.sent & first.beyond & ~first.sent == 0)),
    ]
    return Bench(m, [first.tag, second.tag, *inputs], [
        follows & second.done & first.flit.destinations.all() & second.flit.destinations.all()])


def _service_bound(config: Config) -> int:
    """Cycles within which a flit leaves a router whose receivers are ready.

    At an output, a head comes after one flit of each other buffer that can go there; all flits
    before it in its own buffer take as long. A credit on its way and the output register add one
    cycle each.
    """
    ejecting = config.planes // config.eject * (1 + config.dimensions)
    sharing = config.planes * config.dimensions
    return config.buffer_depth * max(ejecting, sharing) + 2


def _serves(config: Config) -> Bench:
    """No flit is lost: all its copies leave within ``_service_bound`` cycles of ready receivers.

    The receivers may stall for any time before; from some cycle on they take everything at once.
    """
    dut, m, inputs, held_flits = _between(config)
    bound = _service_bound(config)
    ready = Signal()
    m.d.comb += Assume(ready | ~past(m, ready))
    for port in dut.eject:
        m.d.comb += Assume(port.ready | ~ready)
    for (dimension, plane), count in held_flits.items():
        m.d.comb += Assume((dut.outgoing[dimension].credit[plane] == (count != 0)) | ~ready)
    watched = _Watched(m, config, dut)
    age = Signal(range(bound + 2))
    with m.If(ready & watched.entered):
        m.d.sync += age.eq(age + ~watched.done)
    m.d.comb += Assert((age < bound) | watched.done)
    return Bench(m, [watched.tag, ready, *inputs], [age == bound - 2])


_LIMIT = "a router's state is too large for an induction"


def _proofs(claim: str, bench: Callable[[Config], Bench],
            cycles: Mapping[tuple[int, int, int], int]) -> Iterator[Proof]:
    """A proof for each (dimensions, planes, ejection ports) in a dict to cycles."""
    for (dimensions, planes, eject), most in cycles.items():
        yield Proof(
            block="router", claim=claim, limit=_LIMIT, cycles=most,
            slow=planes * dimensions > 1 or bench is _serves,
            size=f"dimensions {dimensions}, planes {planes}, eject {eject}",
            bench=partial(bench, small(dimensions=dimensions, planes=planes, eject=eject)))


PROOFS = [
    *_proofs("no flit is made up, changed, sent twice or elsewhere; credits",
             _conserves, {(1, 1, 1): 9, (1, 2, 2): 8, (2, 1, 1): 8, (2, 2, 1): 7}),
    *_proofs("flits of one buffer leave in order at every output",
             _keeps_order, {(1, 1, 1): 8, (1, 2, 2): 7, (2, 1, 1): 7}),
    *_proofs("no flit is lost: all its copies leave in time once the receivers are ready",
             _serves, {(1, 1, 1): 10, (1, 2, 2): 10, (2, 1, 1): 10}),
]
