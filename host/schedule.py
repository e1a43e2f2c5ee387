"""Builds a program: instructions in order, each waiting for just what it needs.

Every instruction states what it reads and writes. An engine runs one instruction at a time, so what
may still be under way when an instruction is issued is at most the last instruction of each engine,
and the arrivals that GRADIENT and UPDATE announce. An instruction waits for those engines of which
something conflicts with it, and for no others.
"""

from dataclasses import dataclass, field

from hypercast.rtl import isa

__all__ = ["Schedule"]

_ENGINE = {
    isa.Opcode.AGGREGATE: isa.Engine.AGGREGATE,
    isa.Opcode.MATMUL: isa.Engine.ARRAY,
    isa.Opcode.GRADIENT: isa.Engine.ARRAY,
    isa.Opcode.DRAIN: isa.Engine.VECTOR,
    isa.Opcode.LOSS: isa.Engine.VECTOR,
    isa.Opcode.UPDATE: isa.Engine.VECTOR,
}
#: Engines that go on working for an instruction after its own has finished.
_ARRIVALS = {
    isa.Opcode.GRADIENT: isa.Engine.REDUCTION,
    isa.Opcode.UPDATE: isa.Engine.WEIGHTS,
}


@dataclass
class _Access:
    reads: set = field(default_factory=set)
    writes: set = field(default_factory=set)

    def conflicts(self, other):
        return bool(self.writes & (other.reads | other.writes) or self.reads & other.writes)


class Schedule:
    """Instructions so far, and what of them may be under way.

    Attributes
    ----------
    words : list of int
        Encoded instructions.
    """

    def __init__(self):
        self.words = []
        self._running = {}

    def add(self, opcode, *, phase, reads=(), writes=(), **operands):
        """Append an instruction.

        Parameters
        ----------
        opcode : isa.Opcode
            What to do.
        phase : int
            Performance counter its cycles are added to.
        reads, writes : iterable of hashable
            Names of what it uses: tensor panels, accumulator buffers, weights.
        **operands
            Fields of the instruction.
        """
        access = _Access(set(reads), set(writes))
        own = _ENGINE[opcode]
        waits = 0
        for engine, running in list(self._running.items()):
            if engine != own and any(access.conflicts(other) for other in running):
                waits |= 1 << engine
                del self._running[engine]
        # The engine itself is free when the instruction is issued: its last one is done.
        self._running[own] = [access]
        if arrivals := _ARRIVALS.get(opcode):
            self._running.setdefault(arrivals, []).append(access)
        self.words.append(isa.encode(opcode, waits=waits, phase=phase, **operands))

    def halt(self, *, phase, step):
        """End the program; with ``step``, also the training step. Waits for every engine."""
        self.words.append(isa.encode(
            isa.Opcode.HALT, waits=(1 << len(isa.Engine)) - 1, phase=phase, step=step))
        self._running.clear()
