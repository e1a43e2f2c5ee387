# SPDX-License-Identifier: BSD-2-Clause
"""The chip's controller: issues a program's instructions to all cores."""

from collections.abc import Iterable

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from hypercast.rtl import isa, layouts
from hypercast.rtl.config import Config
from hypercast.rtl.control.control_port import ControlPort
from hypercast.rtl.control.engine_status import EngineStatus
from hypercast.rtl.control.exponent_unit import ExponentUnit
from hypercast.rtl.control.instruction_fetch import InstructionFetch
from hypercast.rtl.control.phase_counters import PhaseCounters
from hypercast.rtl.control.program_memory import ProgramMemory
from hypercast.rtl.control.watchdog import Watchdog
from hypercast.rtl.isa import (
    INSTRUCTION_WIDTH,
    KEY_WIDTH,
    STEP_KEY_INCREMENT,
    WAITS_WIDTH,
    Engine,
    Opcode,
)
from hypercast.rtl.layouts import Issue
from hypercast.rtl.limits import ERROR_WIDTH, PEAK_WIDTH
from hypercast.rtl.registers import Error

__all__ = ["Controller"]

#: Errors that stop the program; WINDOW only concerns the access that failed.
_FATAL = (Error.OPCODE | Error.EXPONENT | Error.ALIGNMENT | Error.NETWORK | Error.LINK
          | Error.STALLED | Error.MEMORY | Error.PROGRAM | Error.RUNAWAY | Error.ACCUMULATOR)
#: An instruction, decoded: engines that must be idle, engines it makes busy, whether it is one of
#: the vector unit's, HALT or unknown, and its dropout key.
_DECODED = data.StructLayout({
    "needed": WAITS_WIDTH, "starts": WAITS_WIDTH, "vector": 1, "halt": 1, "unknown": 1,
    "key": KEY_WIDTH})


def _mask(engines: Iterable[Engine]) -> int:
    return sum(1 << engine for engine in engines)


class Controller(wiring.Component):
    """Fetches and issues instructions in order, each as soon as what it waits for is idle.

    ``docs/instructions.md`` defines the semantics. Between the issues of two instructions
    lie at least 2 cycles, or 9 if the second is a vector instruction; more in loops, see
    ``InstructionFetch``. After the vector unit has
    fallen idle, the next vector instruction issues 8 cycles after that is seen here.

    An error stops the program before the instruction that has it; it stops as with ``stop``:
    nothing more is issued, and ``running`` falls when all engines are idle. While one of these
    errors (any but WINDOW) is set, no program gets past its first instruction. If nothing moves any
    more, or more than the program can move (``Watchdog``), that is an error too, and ``running``
    falls though engines are busy; only a reset helps them.

    Cycles count for the phase of the instruction issued last, HALT (at its completion) included;
    cycles before a program's first issue count for phase 0. So the phases add up to the cycles.

    Parameters
    ----------
    config : Config
        Configuration.

    Members
    -------
    host : In(ControlPort(config))
        Registers, program memory and exponent file.
    issue : Out(Issue)
        The instruction and what goes with it; registered, valid with ``issue_valid``.
        ``aux_shift`` means nothing for instructions that have no use for it.
    issue_valid : Out(1)
        High for one cycle per instruction.
    clear : Out(1)
        High for one cycle after ``start``, before anything is issued: clears the cores' counters.
    busy, peak : In(WAITS_WIDTH), In(PEAK_WIDTH), one each per core
    error, progress : In(ERROR_WIDTH), In(1), one each per core
        The cores' reports, from registers, see ``EngineStatus``. Bits 0 to 3 of
        ``error`` set Error.NETWORK, Error.LINK, Error.MEMORY and Error.ACCUMULATOR, in every cycle
        in which they are high.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        super().__init__({
            "host": In(ControlPort(config)),
            "issue": Out(Issue),
            "issue_valid": Out(1),
            "clear": Out(1),
            "busy": In(WAITS_WIDTH).array(config.cores),
            "peak": In(PEAK_WIDTH).array(config.cores),
            "error": In(ERROR_WIDTH).array(config.cores),
            "progress": In(1).array(config.cores),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        host = self.host
        m.submodules.memory = memory = ProgramMemory(self._config)
        m.submodules.fetch = fetch = InstructionFetch(self._config)
        m.submodules.status = status = EngineStatus(self._config)
        m.submodules.exponents = exponents = ExponentUnit(self._config)
        m.submodules.phases = phases = PhaseCounters()
        m.submodules.watchdog = watchdog = Watchdog()

        instruction = Signal(INSTRUCTION_WIDTH)
        changed, first = Signal(), Signal()
        control = layouts.CONTROL(instruction[:layouts.CONTROL.size])
        entry = Signal.like(host.entry)
        remaining = Signal(32)
        stopping = Signal()
        fatal = Signal()
        load, faults = Signal(), Signal.like(host.error)
        issuing = Signal()
        completing = Signal()
        decoded = self._decode(m, instruction)

        for core in range(self._config.cores):
            m.d.comb += [
                status.core_busy[core].eq(self.busy[core]),
                status.core_peak[core].eq(self.peak[core]),
                status.core_error[core].eq(self.error[core]),
                status.core_progress[core].eq(self.progress[core]),
            ]
        for space in (memory, exponents):
            m.d.comb += [space.request.eq(host.request), space.request_valid.eq(host.request_valid)]
        m.d.comb += [
            host.response.eq(memory.response | exponents.response),
            host.response_valid.eq(memory.response_valid | exponents.response_valid),
            host.busy.eq(status.busy),
            watchdog.enable.eq(host.running),
            watchdog.progress.eq(status.progress | issuing),
            watchdog.limit.eq(host.limit),
            phases.enable.eq(host.running),
            phases.index.eq(host.phase_index),
            host.phase_cycles.eq(phases.cycles),
            memory.row.eq(fetch.memory_row),
            fetch.memory_instruction.eq(memory.instruction),
            fetch.memory_fault.eq(memory.fault),
            fetch.take.eq(load),
            fetch.entry.eq(Mux(host.running, entry, host.entry)),
            exponents.instruction.eq(instruction),
            exponents.first.eq(first),
            exponents.vector_busy.eq(status.busy[Engine.VECTOR]),
            exponents.peak.eq(status.peak),
            exponents.commit.eq(issuing & decoded.vector),
            status.start.eq(Mux(issuing, decoded.starts, 0)),
            fatal.eq((host.error & _FATAL).any()),
        ]

        # While an instruction waits in ``instruction``, the next one is fetched.
        with m.If(load):
            m.d.sync += [
                instruction.eq(fetch.instruction), changed.eq(fetch.fault),
                first.eq(fetch.first), host.pc.eq(fetch.row),
            ]
        with m.If(issuing | completing):
            m.d.sync += phases.phase.eq(control.phase)
        m.d.sync += [
            self.issue.instruction.eq(instruction),
            self.issue.shift.eq(exponents.shift),
            self.issue.aux_shift.eq(exponents.aux_shift),
            self.issue.dropout_key.eq(decoded.key + host.step_key),
            self.issue_valid.eq(issuing),
            self.clear.eq(0),
            host.cycles.eq(host.cycles + host.running),
            host.error.eq((host.error & ~host.error_clear) | host.error_set | faults
                          | Mux(status.error[0], Error.NETWORK, 0)
                          | Mux(status.error[1], Error.LINK, 0)
                          | Mux(status.error[2], Error.MEMORY, 0)
                          | Mux(status.error[3], Error.ACCUMULATOR, 0)
                          | Mux(exponents.fault, Error.PROGRAM, 0)
                          | Mux(watchdog.standstill, Error.STALLED, 0)
                          | Mux(watchdog.runaway, Error.RUNAWAY, 0)),
        ]
        self._count_steps(m, completing & layouts.OPERANDS[Opcode.HALT](instruction).step)
        with m.If(host.stop):
            m.d.sync += stopping.eq(1)

        waiting_for = Signal(WAITS_WIDTH)
        m.d.comb += waiting_for.eq(decoded.needed & status.busy)
        with m.FSM():
            with m.State("IDLE"), m.If(host.start & ~host.stop):
                m.d.comb += [phases.clear.eq(1), fetch.start.eq(1)]
                m.d.sync += [
                    host.running.eq(1), host.done.eq(0), host.cycles.eq(0), self.clear.eq(1),
                    stopping.eq(0), phases.phase.eq(0),
                    entry.eq(host.entry), remaining.eq(host.repeat),
                ]
                m.next = "LOAD"
            with m.State("LOAD"):
                m.d.comb += load.eq(fetch.ready)
                with m.If(fetch.ready):
                    m.next = "DECODE"
                with m.Elif(stopping | fatal):
                    m.next = "STOP"
            with m.State("DECODE"):
                m.d.comb += exponents.prepare.eq(1)
                m.next = "WAIT"
            with m.State("WAIT"):
                m.d.sync += host.waits.eq(waiting_for)
                with m.If(stopping | fatal):
                    m.next = "STOP"
                with m.Elif(changed):
                    m.d.comb += faults.eq(Error.PROGRAM)
                with m.Elif(decoded.unknown):
                    m.d.comb += faults.eq(Error.OPCODE)
                with m.Elif(decoded.vector & exponents.ready
                            & (exponents.exponent_error | exponents.alignment_error)):
                    m.d.comb += faults.eq(Mux(exponents.exponent_error, Error.EXPONENT, 0)
                                          | Mux(exponents.alignment_error, Error.ALIGNMENT, 0))
                with m.Elif(~waiting_for.any() & ~decoded.halt
                            & (exponents.ready | ~decoded.vector)):
                    m.d.comb += [issuing.eq(1), load.eq(fetch.ready)]
                    m.next = "LOAD"
                    with m.If(fetch.ready):
                        m.next = "DECODE"
                with m.Elif(~waiting_for.any() & decoded.halt & ~exponents.pending):
                    m.d.comb += [completing.eq(1), fetch.start.eq(1)]
                    m.d.sync += remaining.eq(remaining - 1)
                    m.next = "LOAD"
                    with m.If(remaining <= 1):
                        m.d.sync += [host.running.eq(0), host.done.eq(1)]
                        m.next = "IDLE"
            with m.State("STOP"):
                idle = ~status.busy.any() & ~exponents.pending
                with m.If(idle | (host.error & (Error.STALLED | Error.RUNAWAY)).any()):
                    m.d.sync += host.running.eq(0)
                    m.next = "IDLE"
        return m

    def _count_steps(self, m: Module, advance: Value) -> None:
        """The step and its key, which the host can set."""
        host = self.host
        with m.If(host.step_write):
            m.d.sync += host.step.eq(host.data)
        with m.If(host.step_key_write):
            m.d.sync += host.step_key.eq(host.data)
        with m.If(advance):
            m.d.sync += [
                host.step.eq(host.step + 1), host.step_key.eq(host.step_key + STEP_KEY_INCREMENT),
            ]

    @staticmethod
    def _decode(m: Module, instruction: Signal) -> data.View:
        """What to do with ``instruction``, one cycle later."""
        control = layouts.CONTROL(instruction[:layouts.CONTROL.size])
        decoded = Signal(_DECODED)
        m.d.sync += decoded.eq(0)
        with m.Switch(control.opcode):
            for opcode, operation in isa.OPERATIONS.items():
                if operation.engine is None:
                    continue
                with m.Case(opcode):
                    m.d.sync += [
                        decoded.needed.eq(control.waits | _mask([operation.engine])),
                        decoded.starts.eq(_mask(operation.busy)),
                        decoded.vector.eq(operation.engine == Engine.VECTOR),
                    ]
                    if "dropout_key" in dict(operation.operands):
                        operands = layouts.OPERANDS[opcode](instruction)
                        m.d.sync += decoded.key.eq(operands.dropout_key)
            with m.Case(Opcode.HALT):
                m.d.sync += [decoded.needed.eq(~0), decoded.halt.eq(1)]
            with m.Default():
                m.d.sync += decoded.unknown.eq(1)
        return decoded
