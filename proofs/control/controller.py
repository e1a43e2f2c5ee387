# SPDX-License-Identifier: BSD-2-Clause
"""The controller's issue of instructions."""

from collections.abc import Callable
from contextlib import ExitStack
from unittest.mock import patch

from amaranth.hdl import Assert, Module, Mux, Signal
from amaranth.lib import wiring

from hypercast.proofs.configuration import small
from hypercast.proofs.free import Free, inputs
from hypercast.proofs.inside import Inside
from hypercast.proofs.proof import Proof
from hypercast.proofs.solver import Bench
from hypercast.proofs.words import constant, past
from hypercast.rtl import layouts
from hypercast.rtl.config import Config
from hypercast.rtl.control import controller
from hypercast.rtl.isa import OPERATIONS, Opcode
from hypercast.rtl.registers import Error

__all__ = ["PROOFS"]

#: What stands beside the issue of instructions; whatever it does, that is right.
_PARTS = ("ProgramMemory", "EngineStatus", "ExponentUnit", "PhaseCounters", "Watchdog")
#: The engine that each opcode needs, and those it makes busy.
_NEEDS = {opcode: operation.busy for opcode, operation in OPERATIONS.items() if operation.busy}


def _with_free_parts(
        m: Module, config: Config) -> tuple[Inside, controller.Controller, dict[str, Free]]:
    """The controller with nothing but free parts; returns its inside, itself, and the parts."""
    parts: dict[str, Free] = {}

    def free(name: str, block: type[wiring.Component]) -> Callable[..., Free]:
        def make(*arguments: Config) -> Free:
            parts[name] = Free(block(*arguments))
            return parts[name]
        return make

    dut = controller.Controller(config)
    with ExitStack() as patches:
        for name in _PARTS:
            block = free(name, getattr(controller, name))
            patches.enter_context(patch.object(controller, name, block))
        inside = Inside(m, dut)
    return inside, dut, parts


def _bench() -> Bench:
    """Instructions issue once each, in the order of the program, each when its engines are idle.

    One row of the program is watched, and says the same whenever it is read; all others may say
    something else each time.
    """
    m = Module()
    config = small(dimensions=0, program_rows=16, tensors=8)
    inside, dut, parts = _with_free_parts(m, config)
    host, memory, status = dut.host, parts["ProgramMemory"], parts["EngineStatus"]
    row, content, other = Signal(4), Signal.like(memory.instruction), Signal.like(
        memory.instruction)
    constant(m, row)
    constant(m, content)
    read = past(m, memory.row)
    m.d.comb += memory.instruction.eq(Mux(read == row, content, other))

    control = layouts.CONTROL(content[:layouts.CONTROL.size])
    needed, starts, halts = Signal(8), Signal(8), Signal()
    with m.Switch(control.opcode):
        for opcode, engines in _NEEDS.items():
            with m.Case(opcode):
                m.d.comb += [needed.eq(control.waits | 1 << engines[0]),
                             starts.eq(sum(1 << engine for engine in engines))]
        with m.Case(Opcode.HALT):
            m.d.comb += halts.eq(1)

    entry, loaded = Signal.like(host.entry), Signal()  # of this run; ``pc`` is a row of it
    stopped = Signal()
    begins = host.start & ~host.stop & ~host.running
    states = ("IDLE", "FETCH", "LOAD", "DECODE", "WAIT", "STOP")
    idle, fetches, loads, decodes, waits, stops = (
        inside.state("", state) for state in states)
    with m.If(begins):
        m.d.sync += [entry.eq(host.entry), loaded.eq(0), stopped.eq(0)]
    with m.Else():
        with m.If(loads):
            m.d.sync += loaded.eq(1)
        with m.If(host.stop):
            m.d.sync += stopped.eq(1)
    pc, issued = past(m, host.pc), dut.issue_valid
    was_watched = pc == row
    started, busy = past(m, status.start), past(m, status.busy)
    # What a row that is left without issue must be.
    m.d.comb += [
        Assert(~issued | (host.pc == (pc + 1)[:4])),
        Assert(~issued | past(m, host.running & loaded & ~stopped)),
        Assert(issued | (host.pc == pc) | (host.pc == entry)),
        Assert(issued | (host.pc == pc) | ~was_watched | ~past(m, loaded) | halts),
    ]
    with m.If(issued & was_watched):
        m.d.comb += [
            Assert(dut.issue.instruction == content), Assert(starts != 0),
            Assert((needed & busy) == 0),
            Assert(started == starts),
        ]
    m.d.comb += Assert(issued | (started == 0))
    # A program is done at a HALT that found all idle.
    done = host.done & ~past(m, host.done)
    m.d.comb += [
        Assert(~done | past(m, host.running)), Assert(~done | ~was_watched | halts),
        Assert(~done | (busy == 0)), Assert(~(host.done & host.running)),
    ]

    following = inside.signal("next_row")
    known = decodes | waits | stops
    m.d.comb += [
        Assert(idle | fetches | loads | known), Assert(idle == ~host.running),
        Assert(~host.running | (inside.signal("entry") == entry)),
        Assert(~host.running | (inside.signal("stopping") == stopped)),
        Assert(~(fetches | loads) | (following == entry)),
        Assert(~(decodes | waits) | ((following == (host.pc + 1)[:4]) & loaded)),
        Assert(~(loads | waits) | (read == following)),
        Assert(~((decodes | waits) & (host.pc == row)) | (inside.signal("instruction") == content)),
        Assert(~((fetches | loads) & loaded & (host.pc == row)) | halts),
        Assert(~stops | loaded),
    ]
    free = [value for part in parts.values() for value in part.outputs
            if value is not memory.instruction]
    return Bench(m, [row, content, other, *inputs(dut), *free], [
        issued & was_watched, done & was_watched, issued & (host.pc == 0),
        loads & loaded, issued & past(m, issued | past(m, issued))])


def _ending_bench() -> Bench:
    """What the watchdog barks at ends in a few cycles, whatever the engines do."""
    m = Module()
    inside, dut, parts = _with_free_parts(m, small(dimensions=0, program_rows=16, tensors=8))
    host, watchdog = dut.host, parts["Watchdog"]
    seen = host.error & (Error.STALLED | Error.RUNAWAY)
    waited = Signal(range(8))  # since one of them was seen
    with m.If(seen.any() & host.running):
        m.d.sync += waited.eq(waited + 1)
    with m.Else():
        m.d.sync += waited.eq(0)
    for bark, error in ((watchdog.standstill, Error.STALLED), (watchdog.runaway, Error.RUNAWAY)):
        m.d.comb += Assert(~past(m, bark) | (host.error & error).any())
    m.d.comb += [
        Assert(~host.running | (waited < 5)),
        Assert(watchdog.enable == host.running), Assert(watchdog.limit == host.limit),
        Assert(inside.state("", "IDLE") == ~host.running),
        Assert(inside.states("")),
        *(Assert(~inside.state("", state) | (waited <= most))
          for most, state in enumerate(("FETCH", "LOAD", "DECODE", "WAIT", "STOP"))),
    ]
    free = [value for part in parts.values() for value in part.outputs]
    return Bench(m, [*inputs(dut), *free], [
        (waited == most) & inside.state("", state) for most, state in ((4, "STOP"), (2, "DECODE"))])


PROOFS = [
    Proof(block="controller", bench=_bench,
          claim="issues each instruction once, in order, with its engines idle; none after stop",
          slow=True),
    Proof(block="controller", bench=_ending_bench,
          claim="ends what stands still or runs away in a few cycles, whatever engines do"),
]
