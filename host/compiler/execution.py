# SPDX-License-Identifier: BSD-2-Clause
"""Runs a program as the controller does, with engines that slow each other down.

Each instruction has a time of its own and, of every resource that engines share, the cycles it
needs. Instructions under way together go on at the rate at which the most used of their resources
can serve all of them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from hypercast.host.compiler.instruction import Issued
from hypercast.host.compiler.issue_order import CHAINED
from hypercast.host.compiler.timing import issue_interval, turnaround
from hypercast.rtl.isa import OPERATIONS, Engine, Opcode, engine_of
from hypercast.rtl.limits import LOOP_CYCLES

__all__ = ["execute"]

#: Cycles from ``start`` to the first issue.
_BEGIN = 4
#: Engines that an instruction waits for, by its field ``waits``.
_WAITS = [tuple(engine for engine in Engine if waits >> engine & 1)
          for waits in range(1 << len(Engine))]
#: The engine that goes on working for an opcode, if there is one.
_ARRIVALS = {opcode: operation.arrivals for opcode, operation in OPERATIONS.items()}


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
    last, fetched, phase = 0.0, 0.0, 0
    for number, one in enumerate(issued):
        # It is fetched while the one before waits to be issued.
        fetched = max(last, fetched + LOOP_CYCLES if one.looped else 0)
        start = fetched + (issue_interval(one.opcode) if number else _BEGIN)
        if one.opcode != Opcode.HALT:
            own = engine_of(one.opcode)
            ended = engines.wait(own)
            start = max(start, ended + (turnaround(one.opcode) if ended else 0))
        for engine in _WAITS[one.waits]:
            start = max(start, engines.wait(engine))
        engines.advance(start)
        spent[phase] += round(start) - round(last)
        last, phase = start, one.operands["phase"]
        if one.opcode == Opcode.HALT:
            break
        engines.begin(own, one)
    return round(last), spent


@dataclass
class _Work:
    """The remaining work of an instruction.

    Attributes
    ----------
    instruction : Issued
        The instruction.
    left : float
        Cycles at full rate.
    shares : dict
        Resource to what it takes of it at full rate.
    arrivals : Engine or None
        The engine that goes on working for it.
    rate : float
        How fast it goes on, 1 if nothing is in its way.
    """

    instruction: Issued
    left: float
    shares: dict[str, float]
    arrivals: Engine | None
    rate: float = 1.0


class _Engines:
    """The instructions under way, by engine."""

    def __init__(self) -> None:
        self._edges: int | None = None  # the set that the edge buffers are being filled from
        self._filled = 0.0  # when each stream has its first words
        self._time = 0.0
        self._running: dict[Engine, _Work] = {}
        self._rated = True  # whether the rates hold for the running instructions
        self._idle = dict.fromkeys(Engine, 0.0)

    def begin(self, engine: Engine, instruction: Issued) -> None:
        duration = instruction.duration
        left, demands = float(duration.cycles), dict(duration.demands)
        if instruction.opcode == Opcode.AGGREGATE:
            fetching = not instruction.operands.get("prefetch")
            if instruction.operands.get("edge_set") != self._edges:
                self._edges = instruction.operands.get("edge_set")
                self._filled = self._time + duration.fill
                if fetching:
                    demands["channel 1"] = demands.get("channel 1", 0.0) + duration.ahead
            if fetching:
                left += max(0.0, self._filled - self._time - duration.begin)
        if instruction.operands.get("chained") and Engine.VECTOR in self._running:
            stores = self._running[Engine.VECTOR]
            left = max(left, stores.left - stores.instruction.duration.visible + CHAINED)
        self._running[engine] = _Work(
            instruction, left, {name: cycles / left for name, cycles in demands.items()},
            _ARRIVALS[instruction.opcode])
        self._rated = False

    def wait(self, engine: Engine) -> float:
        """When an engine is idle; everything is brought forward to where that is known."""
        running = self._running
        while engine in running or engine in [work.arrivals for work in running.values()]:
            self._finish_next()
        return self._idle[engine]

    def advance(self, time: float) -> None:
        """Go on until ``time``."""
        while self._running and self._time < time:
            self._finish_next(time)
        self._time = max(self._time, time)

    def _finish_next(self, limit: float | None = None) -> None:
        """Go on until an instruction ends, or until ``limit``."""
        if not self._rated:
            self._rate()
        length = min([work.left / work.rate for work in self._running.values()])
        if limit is not None:
            length = min(length, limit - self._time)
        self._time += length
        for engine, work in list(self._running.items()):
            work.left -= length * work.rate
            if work.left <= 1e-6:
                del self._running[engine]
                self._rated = False
                self._end(engine, work)

    def _end(self, engine: Engine, work: _Work) -> None:
        self._idle[engine] = self._time
        if arrivals := work.arrivals:
            self._idle[arrivals] = max(
                self._idle[arrivals], self._time + work.instruction.duration.tail)

    def _rate(self) -> None:
        """Find how fast each instruction goes on."""
        self._rated = True
        used: dict[str, float] = {}
        for work in self._running.values():
            for resource, share in work.shares.items():
                used[resource] = used.get(resource, 0.0) + share
        for work in self._running.values():
            work.rate = 1.0 / max([1.0, *[used[resource] for resource in work.shares]])
