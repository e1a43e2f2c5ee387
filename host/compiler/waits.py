# SPDX-License-Identifier: BSD-2-Clause
"""Finds the engines that each instruction of a program has to wait for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from hypercast.host.compiler.instruction import Accumulators, Instruction, Name
from hypercast.rtl import isa

__all__ = ["Waits"]


@dataclass
class _Access:
    """The places that an instruction uses; no other instruction reads the sums that it adds to."""

    reads: set[Name]
    writes: set[Name]
    adds: set[Name] = field(default_factory=set)

    def conflicts(self, other: "_Access") -> bool:
        writes, written = self.writes, other.writes
        return not (writes.isdisjoint(other.reads) and writes.isdisjoint(written)
                    and writes.isdisjoint(other.adds) and self.reads.isdisjoint(written)
                    and self.adds.isdisjoint(written))


class _Running:
    """An engine's instructions that may be under way, taken together."""

    def __init__(self) -> None:
        self._used = _Access(set(), set(), set())
        self._sums: set[frozenset[Name]] = set()  # what each of them adds to

    def add(self, access: _Access) -> Self:
        """Take in one more; returns this."""
        self._used.reads |= access.reads
        self._used.writes |= access.writes
        self._used.adds |= access.adds
        self._sums.add(frozenset(access.adds))
        return self

    def conflicts(self, access: _Access) -> bool:
        """Whether an instruction has to wait for one of them."""
        return access.conflicts(self._used)

    def adds_elsewhere(self, access: _Access) -> bool:
        """Whether one of them adds to other sums than an instruction."""
        return not self._sums <= {frozenset(access.adds)}


class Waits:
    """Issued instructions that may be under way.

    Parameters
    ----------
    buffers : dict
        The buffer of each ``Accumulators``.
    """

    def __init__(self, buffers: Mapping[Accumulators, int]) -> None:
        self._buffers = buffers
        self._running: dict[isa.Engine, _Running] = {}

    def issue(self, instruction: Instruction) -> tuple[int, bool]:
        """The engines the next instruction has to wait for, and whether it is chained to another.
        """
        access, operation = (
            _Access(instruction.reads, set(instruction.writes)), instruction.operation)
        if accumulators := instruction.accumulators:
            used = access.adds if operation.adds else access.writes
            used.add((accumulators.kind, self._buffers[accumulators]))
        own = instruction.engine
        waits, chained = 0, False
        for engine, running in list(self._running.items()):
            # What arrives is added to the buffer that the last instruction of its kind named.
            mixed = (operation.reduces and engine == operation.arrivals
                     and running.adds_elsewhere(access))
            if engine == own or not (mixed or running.conflicts(access)):
                continue
            if engine == isa.Engine.VECTOR and instruction.follows:
                unchained = _Access(access.reads - instruction.follows, access.writes, access.adds)
                if not running.conflicts(unchained):
                    chained = True
                    continue
            waits |= 1 << engine
            del self._running[engine]
        # The engine itself is free when the instruction is issued: its last one is done.
        self._running[own] = _Running().add(access)
        if operation.arrivals is not None:
            # What arrives is added to accumulators, or written.
            arriving = (_Access(set(), set(), access.adds) if operation.reduces
                        else _Access(set(), instruction.writes))
            self._running.setdefault(operation.arrivals, _Running()).add(arriving)
        return waits, chained
