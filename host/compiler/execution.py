"""Runs a program as the controller does, with engines that slow each other down.

Each instruction has a time of its own and, of every resource that engines share, the cycles it
needs. Instructions under way together go on at the rate at which the most used of their resources
can serve all of them.
"""

from collections.abc import Iterable

from hypercast.host.compiler.instruction import Issued
from hypercast.host.compiler.issue_order import CHAINED
from hypercast.host.compiler.timing import issue_interval, turnaround
from hypercast.rtl.isa import OPERATIONS, Engine, Opcode, engine_of

__all__ = ["execute"]

#: Cycles from ``start`` to the first issue.
_BEGIN = 4


def execute(issued: Iterable[Issued], phases: int) -> tuple[int, list[int]]:
    """Cycles of a program, up to its first HALT, and of its phases.

    Parameters
    ----------
    issued : iterable of Issued
        The program.
    phases : int
        Number of phase counters.
    """
    engines = _Engines()
    spent = [0] * phases
    last, phase = 0.0, 0
    for number, one in enumerate(issued):
        start = last + (issue_interval(one.opcode) if number else _BEGIN)
        waits = {engine for engine in Engine if one.waits >> engine & 1}
        if one.opcode != Opcode.HALT:
            own = engine_of(one.opcode)
            ended = engines.wait(own)
            start = max(start, ended + (turnaround(one.opcode) if ended else 0))
        start = max([start, *(engines.wait(engine) for engine in waits)])
        engines.advance(start)
        spent[phase] += round(start) - round(last)
        last, phase = start, one.operands["phase"]
        if one.opcode == Opcode.HALT:
            break
        engines.begin(own, one)
    return round(last), spent


class _Engines:
    """What is under way."""

    def __init__(self) -> None:
        self._edges: int | None = None  # the set that the edge buffers are being filled from
        self._filled = 0.0  # when they are
        self._time = 0.0
        self._running: dict[Engine, tuple[Issued, float]] = {}  # and cycles left at full rate
        self._idle = dict.fromkeys(Engine, 0.0)

    def begin(self, engine: Engine, instruction: Issued) -> None:
        left = float(instruction.duration.cycles)
        if instruction.opcode == Opcode.AGGREGATE:
            if instruction.operands.get("edge_set") != self._edges:
                self._edges = instruction.operands.get("edge_set")
                self._filled = self._time + instruction.duration.fill
            if not instruction.operands.get("prefetch"):
                left = max(left, self._filled - self._time)
        if instruction.operands.get("chained") and Engine.VECTOR in self._running:
            stores, rest = self._running[Engine.VECTOR]
            left = max(left, rest - stores.duration.visible + CHAINED)
        self._running[engine] = instruction, left

    def wait(self, engine: Engine) -> float:
        """When an engine is idle; everything is brought forward to where that is known."""
        while engine in self._running or any(
                OPERATIONS[one.opcode].arrivals == engine for one, _ in self._running.values()):
            self._finish_next()
        return self._idle[engine]

    def advance(self, time: float) -> None:
        """Go on until ``time``."""
        while self._running and self._time < time:
            self._finish_next(time)
        self._time = max(self._time, time)

    def _finish_next(self, limit: float | None = None) -> None:
        """Go on until an instruction ends, or until ``limit``."""
        rates = self._rates()
        length = min(left / rates[engine] for engine, (_, left) in self._running.items())
        if limit is not None:
            length = min(length, limit - self._time)
        self._time += length
        for engine, (instruction, left) in list(self._running.items()):
            left -= length * rates[engine]
            self._running[engine] = instruction, left
            if left <= 1e-6:
                del self._running[engine]
                self._end(engine, instruction)

    def _end(self, engine: Engine, instruction: Issued) -> None:
        self._idle[engine] = self._time
        if arrivals := OPERATIONS[instruction.opcode].arrivals:
            self._idle[arrivals] = max(
                self._idle[arrivals], self._time + instruction.duration.tail)

    def _rates(self) -> dict[Engine, float]:
        """How fast each instruction goes on, 1 if nothing is in its way."""
        used: dict[str, float] = {}
        for one, _ in self._running.values():
            for resource, cycles in one.duration.demands.items():
                used[resource] = used.get(resource, 0.0) + cycles / one.duration.cycles
        return {engine: 1.0 / max([1.0, *(used[resource] for resource in one.duration.demands)])
                for engine, (one, _) in self._running.items()}
