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
from hypercast.proofs.words import past
from hypercast.rtl import layouts
from hypercast.rtl.config import Config
from hypercast.rtl.control import controller
from hypercast.rtl.isa import OPERATIONS, Opcode
from hypercast.rtl.registers import Error

__all__ = ["PROOFS"]

#: What stands beside the issue of instructions; whatever it does, that is right.
_PARTS = ("ProgramMemory", "InstructionFetch", "EngineStatus", "ExponentUnit", "PhaseCounters",
          "Watchdog")
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
    """What is fetched issues once, in order, when its engines are idle.

    The fetch may give anything at any time.
    """
    m = Module()
    inside, dut, parts = _with_free_parts(m, small(dimensions=0, program_rows=16, tensors=8))
    host, fetch, status = dut.host, parts["InstructionFetch"], parts["EngineStatus"]
    taken, of_row, first = Signal.like(fetch.instruction), Signal.like(fetch.row), Signal()
    pending = Signal()  # taken, and neither issued nor, a HALT, carried out

    control = layouts.CONTROL(taken[:layouts.CONTROL.size])
    needed, starts, halts = Signal(8), Signal(8), Signal()
    with m.Switch(control.opcode):
        for opcode, engines in _NEEDS.items():
            with m.Case(opcode):
                m.d.comb += [needed.eq(control.waits | 1 << engines[0]),
                             starts.eq(sum(1 << engine for engine in engines))]
        with m.Case(Opcode.HALT):
            m.d.comb += halts.eq(1)

    entry = Signal.like(host.entry)  # of this run
    stopped = Signal()
    begins = host.start & ~host.stop & ~host.running
    idle, loads, decodes, waits, stops = (
        inside.state("", state) for state in ("IDLE", "LOAD", "DECODE", "WAIT", "STOP"))
    issues, completes = inside.signal("issuing"), inside.signal("completing")
    with m.If(begins):
        m.d.sync += [entry.eq(host.entry), pending.eq(0), stopped.eq(0)]
    with m.Else():
        with m.If(fetch.take):
            m.d.sync += [taken.eq(fetch.instruction), of_row.eq(fetch.row), first.eq(fetch.first),
                         pending.eq(1)]
        with m.Elif(issues | completes):
            m.d.sync += pending.eq(0)
        with m.If(host.stop):
            m.d.sync += stopped.eq(1)
    issued = dut.issue_valid
    m.d.comb += [
        # Nothing is dropped, and nothing is done twice.
        Assert(~fetch.take | (fetch.ready & host.running & (~pending | issues))),
        Assert(~(issues | completes) | (pending & host.running & ~stopped)),
        Assert(issued == past(m, issues)),
        Assert(~issued | (dut.issue.instruction == past(m, taken))),
        Assert(~issues | ((starts != 0) & (needed & status.busy == 0))),
        Assert(status.start == Mux(issues, starts, 0)),
        Assert(~completes | (halts & (status.busy == 0))),
        # It begins where the program does, once for each run of it.
        Assert(fetch.start == (begins | completes)),
        Assert(~fetch.start | (fetch.entry == Mux(begins, host.entry, entry))),
        Assert(~pending | ((host.pc == of_row) & (parts["ExponentUnit"].first == first)
                           & (parts["ExponentUnit"].instruction == taken))),
    ]
    # A program is done at a HALT that found all idle.
    done = host.done & ~past(m, host.done)
    m.d.comb += [Assert(~done | past(m, completes)), Assert(~(host.done & host.running))]

    m.d.comb += [
        Assert(idle | loads | decodes | waits | stops), Assert(idle == ~host.running),
        Assert(~host.running | (inside.signal("entry") == entry)),
        Assert(~host.running | (inside.signal("stopping") == stopped)),
        Assert(~loads | ~pending), Assert(~(decodes | waits) | pending),
    ]
    free = [value for part in parts.values() for value in part.outputs]
    return Bench(m, [*inputs(dut), *free], [
        issued, done, issues & past(m, past(m, fetch.take)), issues & ~fetch.ready,
        completes & (host.pc == 0)])


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
          for most, state in enumerate(("LOAD", "DECODE", "WAIT", "STOP"))),
    ]
    free = [value for part in parts.values() for value in part.outputs]
    return Bench(m, [*inputs(dut), *free], [
        (waited == most) & inside.state("", state) for most, state in ((3, "STOP"), (1, "DECODE"))])


PROOFS = [
    Proof(block="controller", bench=_bench,
          claim="issues what is fetched once, in order, with its engines idle; none after stop",
          slow=True),
    Proof(block="controller", bench=_ending_bench,
          claim="ends what stands still or runs away in a few cycles, whatever engines do"),
]
