# SPDX-License-Identifier: BSD-2-Clause
"""Chooses the order in which a program's instructions are issued.

List scheduling by critical path (Graham, Bounds on Multiprocessing Timing Anomalies, 1969) on a
model of the controller, which issues in order. A greedy schedule may begin a long instruction just
before one of a longer path becomes ready, and paths say nothing of engines that are busy. So
several degrees of patience and somewhat different paths give several orders.
"""

import math
import random
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from hypercast.host.compiler.instruction import Accumulators, Instruction
from hypercast.host.compiler.timing import issue_interval, turnaround
from hypercast.rtl import isa

__all__ = ["CHAINED", "TRIALS", "issue_orders"]

#: An instruction that is ready: the longest path comes first.
Entry: TypeAlias = tuple[int, int, Instruction]

#: Cycles from the storing of a panel's last row until an instruction chained to it ends.
CHAINED = 25
#: Buffers of each kind of accumulators.
_BUFFERS = dict.fromkeys(isa.DrainSource, isa.largest(isa.Opcode.DRAIN, "buffer") + 1)
#: Cycles before an instruction is issued: after the one before, and after its engine's last one.
_INTERVALS = {opcode: issue_interval(opcode) for opcode in isa.Opcode}
_TURNAROUNDS = {opcode: turnaround(opcode) for opcode in isa.Opcode}
#: Shares of an instruction's cycles for which its engine is kept idle for an instruction of a
#: longer path: if this can be issued, and if it waits only for an instruction that an engine can do
#: next.
_PATIENCE = ((0.0, 0.0), (0.2, 0.4), (0.5, 0.4), (1.0, 0.7))
#: Longer waits, which are tried with the given paths only.
_MORE_PATIENCE = ((0.2, 1.5), (0.2, 2.0), (2.0, 0.4))
#: Instructions of an engine that are compared in each step: the ones of the longest paths.
_CANDIDATES = 8
#: How many different paths are tried.
TRIALS = 12
#: Instructions scheduled at most with all of them, and the range of the paths' factors.
_EFFORT, _CHANGES = 4_000, (80, 121)


def issue_orders(
        program: Sequence[Instruction],
        trials: int = TRIALS) -> Iterator[tuple[list[Instruction], dict[Accumulators, int]]]:
    """Orders of a program that are worth a try, always the same ones.

    Parameters
    ----------
    program : list of Instruction
        With dependencies and paths.
    trials : int
        How many different paths are tried, each with several degrees of patience; fewer if the
        program is long. With 0, there is one order, of no patience.

    Yields
    ------
    tuple
        The instructions in order, and a dictionary of the buffer of each ``Accumulators``.
    """
    if trials == 0:
        order, controller = _schedule(
            program, {instruction: instruction.path for instruction in program}, 0.0, 0.0)
        yield order, controller.buffers
        return
    generator = random.Random(0)
    for trial in range(max(1, min(trials, _EFFORT // max(1, len(program))))):
        for patience, foresight in (*_PATIENCE, *(() if trial else _MORE_PATIENCE)):
            paths = {instruction: instruction.path if not trial else
                     instruction.path * generator.randrange(*_CHANGES) for instruction in program}
            order, controller = _schedule(program, paths, patience, foresight)
            yield order, controller.buffers


def _schedule(program: Sequence[Instruction], paths: Mapping[Instruction, int],
              patience: float, foresight: float) -> tuple[list[Instruction], "_Controller"]:
    """The instructions in order, and the controller that issued them."""
    controller = _Controller(program)
    ready: dict[isa.Engine, list[Entry]] = {instruction.engine: [] for instruction in program}
    missing = {instruction: len(instruction.before) for instruction in program}
    number = {instruction: index for index, instruction in enumerate(program)}
    order = []

    def offer(instruction: Instruction) -> None:
        insort(ready[instruction.engine],
               (-paths[instruction], number[instruction], instruction))

    for instruction in program:
        if not missing[instruction]:
            offer(instruction)
    for _ in program:
        choices = [choice for queue in ready.values()
                   if (choice := _choose(queue, controller, patience))]
        start, entry = min(_free_choices(choices, controller, paths, missing, foresight) or choices)
        chosen = entry[-1]
        queue = ready[chosen.engine]
        del queue[bisect_left(queue, entry)]
        controller.issue(chosen, start)
        order.append(chosen)
        for later in chosen.after:
            missing[later] -= 1
            if not missing[later]:
                offer(later)
    return order, controller


def _choose(queue: Sequence[Entry], controller: "_Controller",
            patience: float) -> tuple[int, Entry] | None:
    """Start and entry of the instruction that an engine should do next; None if it can do none."""
    found: list[tuple[int, Entry]] = []
    for entry in queue:
        if controller.has_buffer(entry[-1]):
            found.append((controller.start(entry[-1]), entry))
            if len(found) == _CANDIDATES:
                break
    if not found:
        return None
    earliest, (*_, first) = min(found)
    limit = earliest + math.floor(patience * first.duration.cycles)
    return next(choice for choice in found if choice[0] <= limit)


def _free_choices(choices: Sequence[tuple[int, Entry]], controller: "_Controller",
                  paths: Mapping[Instruction, int], missing: Mapping[Instruction, int],
                  foresight: float) -> list[tuple[int, Entry]]:
    """Choices that keep their engine from none of a longer path that another one soon enables."""
    coming: dict[isa.Engine, list[tuple[int, int]]] = {}  # paths, and when they can start
    for start, (*_, one) in choices if foresight else ():
        for later in one.after:
            if missing[later] == 1:
                cycles = one.duration.cycles
                if later.chain is one:
                    cycles = max(0, cycles - later.duration.cycles)
                coming.setdefault(later.engine, []).append((paths[later], start + cycles))
    return [(start, (rank, number, one)) for start, (rank, number, one) in choices if not any(
        path > -rank and at < start + foresight * one.duration.cycles
        for path, at in coming.get(one.engine, ()))]


class _Controller:
    """A model of the chip's controller, in estimated cycles.

    Attributes
    ----------
    buffers : dict
        The buffer of each ``Accumulators``.
    """

    def __init__(self, program: Sequence[Instruction]) -> None:
        self.buffers: dict[Accumulators, int] = {}
        self._time = 0  # of the last issue
        self._finish: dict[Instruction, int] = {}  # when an instruction's effects are there
        # When all is there that an instruction needs of those issued, but of one it is chained to.
        self._given = dict.fromkeys(program, 0)
        self._idle = dict.fromkeys(isa.Engine, 0)
        self._free = {kind: [(0, buffer) for buffer in range(count)]
                      for kind, count in _BUFFERS.items()}
        # Accumulators that have a buffer now.
        self._held: dict[isa.DrainSource, set[Accumulators]] = {kind: set() for kind in _BUFFERS}
        self._takers = Counter(instruction.accumulators for instruction in program
                               if instruction.accumulators and not instruction.operation.adds)
        #: What each instruction still depends on that does not use its accumulators.
        self._foreign = {instruction: sum(earlier.accumulators is not instruction.accumulators
                                          for earlier in instruction.before)
                         for instruction in program if instruction.accumulators}
        #: Instructions of accumulators that depend on such others.
        self._unready = Counter(instruction.accumulators
                                for instruction, count in self._foreign.items() if count)
        # Accumulators that what arrives is added to.
        self._reducing: Accumulators | None = None

    def has_buffer(self, instruction: Instruction) -> bool:
        """Whether accumulators can be had.

        One buffer of each kind is left to accumulators that depend on no others, neither in their
        additions nor in the instruction that takes them: it becomes free again.
        """
        accumulators = instruction.accumulators
        if accumulators is None or accumulators in self.buffers:
            return True
        if not self._free[accumulators.kind]:
            return False
        waiting = sum(self._unready[one] > 0
                      for one in (*self._held[accumulators.kind], accumulators))
        return waiting < _BUFFERS[accumulators.kind]

    def start(self, instruction: Instruction) -> int:
        """When it would start if it were the next to be issued."""
        given, opcode = self._given[instruction], instruction.opcode
        if instruction.chain:
            # Begun earlier, it would keep its engine from others and end no earlier.
            given = max(given, self._stored_at(instruction.chain) - instruction.duration.cycles)
        start = max(self._time + _INTERVALS[opcode],
                    self._idle[instruction.engine] + _TURNAROUNDS[opcode], given)
        accumulators = instruction.accumulators
        if accumulators and accumulators not in self.buffers:
            start = max(start, min(self._free[accumulators.kind])[0])
        operation = instruction.operation
        if operation.reduces and accumulators is not self._reducing:
            assert operation.arrivals is not None
            start = max(start, self._idle[operation.arrivals])
        return start

    def _stored_at(self, earlier: Instruction) -> int:
        """When an instruction that is chained to an earlier one ends at the earliest."""
        return self._finish[earlier] - earlier.duration.visible + CHAINED

    def issue(self, instruction: Instruction, start: int) -> None:
        self._time = start
        done = start + instruction.duration.cycles
        if instruction.chain:
            done = max(done, self._stored_at(instruction.chain))
        finish = done + instruction.duration.tail
        self._finish[instruction] = finish
        given = self._given
        for later in instruction.after:
            if finish > given[later] and later.chain is not instruction:
                given[later] = finish
            if later.accumulators and later.accumulators is not instruction.accumulators:
                self._foreign[later] -= 1
                self._unready[later.accumulators] -= not self._foreign[later]
        self._idle[instruction.engine] = done
        operation = instruction.operation
        if operation.arrivals is not None:
            self._idle[operation.arrivals] = max(self._idle[operation.arrivals], finish)
        if operation.reduces:
            self._reducing = instruction.accumulators
        if accumulators := instruction.accumulators:
            self._place(accumulators, operation.adds, done)

    def _place(self, accumulators: Accumulators, adds: bool, done: int) -> None:
        free = self._free[accumulators.kind]
        if adds:
            if accumulators not in self.buffers:
                chosen = min(free)
                free.remove(chosen)
                self.buffers[accumulators] = chosen[1]
                self._held[accumulators.kind].add(accumulators)
            return
        self._takers[accumulators] -= 1
        if not self._takers[accumulators]:
            free.append((done, self.buffers[accumulators]))
            self._held[accumulators.kind].remove(accumulators)
