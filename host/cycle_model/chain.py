# SPDX-License-Identifier: BSD-2-Clause
"""The chain: cycles that a program takes at least, however its instructions are ordered."""

from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any

import numpy as np

from hypercast.host.compiler.instruction import SHARED, Instruction, Name, name_turn
from hypercast.host.compiler.schedule import Schedule
from hypercast.reference.array_types import IntArray
from hypercast.rtl.isa import Engine, Opcode

__all__ = ["KeptSchedule", "chain_cycles"]

#: Engines that do one instruction after the other.
_ENGINES = (Engine.AGGREGATE, Engine.ARRAY, Engine.VECTOR)
#: Instructions that begin when others of several panels and strips are done.
_JOINS = (Opcode.AGGREGATE, Opcode.LOSS)


class KeptSchedule(Schedule):
    """A schedule that keeps its programs' instructions, with the instructions they depend on.

    Parts take turns in the ``SHARED`` place in any order: only what fills it comes first.

    Attributes
    ----------
    added : dict
        A program's first row to its instructions.
    """

    def __init__(self) -> None:
        super().__init__(trials=0)
        self.added: dict[int, list[Instruction]] = {}
        self._turn = 0

    def add(self, opcode: Opcode, fields: Mapping[str, int] | None = None, /, *,
            reads: Iterable[Name] = (), writes: Iterable[Name] = (), **others: Any) -> None:
        """Add an instruction, as ``Schedule.add``."""
        writes = [*writes]
        self._turn += SHARED in writes
        super().add(opcode, fields, reads=name_turn(reads, self._turn),
                    writes=name_turn(writes, self._turn), **others)

    def halt(self, *, phase: int, step: int) -> None:
        """End the program, as ``Schedule.halt``."""
        self.added[self.rows] = self._program
        super().halt(phase=phase, step=step)


def chain_cycles(program: Sequence[Instruction]) -> int:
    """Cycles that a program takes at least by the cycle model, in any order of its instructions.

    Three things hold in each order, as engines share memory and network and only slow each other
    down:

    1. An instruction takes its own ``Duration.cycles`` at least, and an engine does one at a time.
    2. An instruction begins when the instructions whose results it takes, and the readers of what
       it overwrites, are done. If it follows the stores of another one, it begins after that one
       has begun, and ends after the last of these stores.
    3. Instructions are issued in an order that keeps buffers of accumulators free. Where that asks
       for one before another, it begins no later.

    So there is a cycle before which no instruction begins, its *head*: the latest of what these
    sentences say of the instructions before it. An AGGREGATE or LOSS waits for many at once:
    whatever it depends on has been through the engines. Among any instructions of an engine, the
    last one to end does so at the least head of them plus their cycles, or later (Jackson's rule
    for one machine; Carlier, The one-machine sequencing problem, 1982). The instructions that it
    depends on are tried from each head on. In the same way, instructions of an engine with their
    heads, their sum of cycles, and the least *tail*, the cycles from there to the end of the
    program along one path, bound the program.

    AGGREGATEs of one layer depend on all of the layer before. So this is the sum of AGGREGATEs
    that depend on each other, each at the pace of its slowest resource, the way to the first of
    them, the LOSS between them, and the way from the last of them.

    Parameters
    ----------
    program : sequence of Instruction
        Instructions with ``before``, ``after`` and ``chain``, as when a ``Schedule`` has ended
        them.

    Returns
    -------
    int
        Cycles; 0 without instructions.
    """
    order = list(TopologicalSorter({one: one.before for one in program}).static_order())
    members = {engine: [one for one in order if one.engine == engine] for engine in _ENGINES}
    bits = {one: 1 << place for same in members.values() for place, one in enumerate(same)}
    heads, ends = dict[Instruction, int](), dict[Instruction, int]()
    done: dict[Instruction, dict[Engine, int]] = {}  # before it begins: sets of bits
    found: dict[tuple[Engine, int], int] = {}
    for one in order:
        head, stored, sets = 0, 0, dict.fromkeys(_ENGINES, 0)
        for earlier in one.before:
            for engine, its in done[earlier].items():
                sets[engine] |= its
            if _conflicts(earlier, one):
                head = max(head, ends[earlier])
                sets[earlier.engine] |= bits[earlier]
            else:
                head = max(head, heads[earlier])
                if _follows(earlier, one):
                    stored = max(stored, heads[earlier] + _until_stored(earlier))
        done[one] = sets
        if one.opcode in _JOINS:
            for engine, its in sets.items():
                if (engine, its) not in found:
                    found[engine, its] = _serial(_choose(members[engine], its), heads)
                head = max(head, found[engine, its])
        heads[one], ends[one] = head, max(head + one.duration.cycles, stored)
    tails = _tails(order)
    return max([0, *ends.values(), *(_serial(same, heads, tails) for same in members.values())])


def _conflicts(earlier: Instruction, later: Instruction) -> bool:
    """Whether the later of two instructions begins when the earlier one has ended."""
    if (earlier.accumulators and earlier.accumulators is later.accumulators
            and earlier.operation.adds and not later.operation.adds):
        return True
    reads = later.reads - later.follows if earlier.engine == Engine.VECTOR else later.reads
    return not (earlier.writes.isdisjoint(reads) and earlier.writes.isdisjoint(later.writes)
                and earlier.reads.isdisjoint(later.writes))


def _follows(earlier: Instruction, later: Instruction) -> bool:
    """Whether the later one, if it does not conflict, takes what the earlier one stores."""
    return earlier.engine == Engine.VECTOR and not earlier.writes.isdisjoint(later.follows)


def _until_stored(one: Instruction) -> int:
    """Cycles from its begin until its last store."""
    return one.duration.cycles - one.duration.visible


def _tails(order: Sequence[Instruction]) -> dict[Instruction, int]:
    """Cycles from when an instruction may end until the program does, along a path."""
    tails: dict[Instruction, int] = {}
    for one in reversed(order):
        own, tail = one.duration.cycles, 0
        for later in one.after:
            rest = later.duration.cycles + tails[later]
            if not _conflicts(one, later):
                rest -= own  # as it may begin when this one does
                if _follows(one, later):
                    rest = max(rest, tails[later] - one.duration.visible)
            tail = max(tail, rest)
        tails[one] = tail
    return tails


def _choose(members: Sequence[Instruction], bits: int) -> list[Instruction]:
    """The members of a set of bits."""
    packed = np.frombuffer(bits.to_bytes(len(members) // 8 + 1, "little"), np.uint8)
    places = np.flatnonzero(np.unpackbits(packed, bitorder="little")).tolist()
    return [members[place] for place in places]


def _serial(members: Sequence[Instruction], heads: dict[Instruction, int],
            tails: dict[Instruction, int] | None = None) -> int:
    """When an engine has done some instructions, and what follows the last of them, at least."""
    if not members:
        return 0
    begin = np.array([heads[one] for one in members])
    latest = np.argsort(-begin, kind="stable")
    total = np.cumsum([members[place].duration.cycles for place in latest])
    after: IntArray | Any = 0 if tails is None else np.minimum.accumulate(
        [tails[members[place]] for place in latest])
    return int((begin[latest] + total + after).max())
