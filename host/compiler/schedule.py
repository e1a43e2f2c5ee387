# SPDX-License-Identifier: BSD-2-Clause
"""Orders a program's instructions so that engines overlap, each waiting for just what it needs.

Every instruction states what it reads and writes, and how long it takes. From that follows a graph
of dependencies, and from the graph some orders (``issue_orders``). The order that the cycle model
finishes first is taken. An engine runs one instruction at a time, so what may still be under way
when an instruction is issued is at most the last instruction of each engine, and the arrivals that
GRADIENT and UPDATE announce. An instruction waits for engines that have a conflicting instruction,
and for no others.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hypercast.host.compiler.execution import execute
from hypercast.host.compiler.instruction import Accumulators, Instruction, Issued, Name
from hypercast.host.compiler.issue_order import TRIALS, issue_orders
from hypercast.host.compiler.timing import Duration
from hypercast.reference.tensor import Tensor
from hypercast.rtl import isa

__all__ = ["Schedule"]


class Schedule:
    """Programs, one after the other, each ordered when it is halted.

    Parameters
    ----------
    trials : int
        How many orders are tried, see ``issue_orders``.

    Attributes
    ----------
    issued : list of Issued
        Instructions in the order of their rows.
    labels : list of (int, Tensor)
        Rows of the instructions that were given a label.
    """

    def __init__(self, trials: int = TRIALS) -> None:
        self.issued: list[Issued] = []
        self.labels: list[tuple[int, Tensor]] = []
        self._trials = trials
        self._program: list[Instruction] = []

    @property
    def empty(self) -> bool:
        """Whether nothing has been added since a program was ended."""
        return not self._program

    @property
    def words(self) -> list[int]:
        """Encoded instructions."""
        return [instruction.encode() for instruction in self.issued]

    def add(self, opcode: isa.Opcode, fields: Mapping[str, int] | None = None, /, *,
            duration: Duration | None = None, reads: Iterable[Name] = (),
            writes: Iterable[Name] = (), follows: Iterable[Name] = (),
            accumulators: Accumulators | None = None, opens: Tensor | None = None,
            label: Tensor | None = None, family: Name = None, **operands: int) -> None:
        """Add an instruction to the program, after the instructions that it depends on.

        Parameters
        ----------
        opcode : isa.Opcode
            What to do.
        fields : dict, optional
            Fields of the instruction, in addition to ``operands``.
        duration : Duration, optional
            Cycles it is expected to take.
        reads, writes : iterable of hashable
            Names of what it uses: parts of tensors, weights.
        follows : iterable of hashable
            Names among ``reads`` of what it can take while the vector unit still writes it.
            If it may have to, that becomes the field ``chained``.
        accumulators : Accumulators, optional
            What it adds to or takes out; becomes the field ``buffer``.
        opens : Tensor, optional
            The entry that the first instruction to be issued with this name has to open; becomes
            the field ``open``.
        label : Tensor, optional
            Entered into ``labels``.
        family : hashable, optional
            What instructions have in common that differ in their strip of rows only: they are
            taken for equally urgent.
        **operands
            Fields of the instruction.
        """
        self._program.append(Instruction(
            opcode, duration or Duration(), set(reads), set(writes), accumulators, opens, label,
            {**operands, **(fields or {})}, follows=frozenset(follows), family=family))

    def halt(self, *, phase: int, step: int) -> None:
        """End the program; with ``step``, also the training step. Waits for every engine."""
        _find_dependencies(self._program)
        halt = Issued(
            opcode=isa.Opcode.HALT, waits=(1 << len(isa.Engine)) - 1, duration=Duration(),
            operands={"phase": phase, "step": step})
        phases = 1 + max([phase, *(one.operands["phase"] for one in self._program)])
        programs = ((order, [*_issue(order, buffers), halt])
                    for order, buffers in issue_orders(self._program, self._trials))
        order, issued = min(programs, key=lambda program: execute(program[1], phases)[0]) \
            if self._trials else next(programs)
        self.labels += [(len(self.issued) + row, instruction.label)
                        for row, instruction in enumerate(order) if instruction.label]
        self.issued += issued
        self._program = []


def _issue(order: Iterable[Instruction], buffers: Mapping[Accumulators, int]) -> Iterator[Issued]:
    """Instructions in order, in their issued form."""
    waits = _Waits(buffers)
    opened: set[Tensor] = set()
    for instruction in order:
        fields = dict(instruction.operands)
        if instruction.accumulators:
            fields["buffer"] = buffers[instruction.accumulators]
        if instruction.opens:
            fields["open"] = instruction.opens not in opened
            opened.add(instruction.opens)
        needed, chained = waits.issue(instruction)
        if chained:
            fields["chained"] = 1
        yield Issued(opcode=instruction.opcode, waits=needed, duration=instruction.duration,
                     operands=fields)


# --- Dependencies -------------------------------------------------------------------------------


def _find_dependencies(program: Sequence[Instruction]) -> None:
    """Fill in ``before``, ``after`` and ``path``."""
    writers: dict[Name, Instruction] = {}
    readers: dict[Name, list[Instruction]] = {}
    users: dict[Accumulators, list[Instruction]] = {}
    for instruction in program:
        for name in instruction.reads:
            if name in writers:
                instruction.before.add(writers[name])
            readers.setdefault(name, []).append(instruction)
        for name in instruction.writes:
            instruction.before.update(readers.pop(name, ()))
            if name in writers:
                instruction.before.add(writers[name])
            writers[name] = instruction
        instruction.before.discard(instruction)
        _chain(instruction, writers)
        if accumulators := instruction.accumulators:
            users.setdefault(accumulators, []).append(instruction)
    for accumulators, sharing in users.items():
        _order_users(sharing, users.get(accumulators.after) if accumulators.after else None)
    for instruction in program:
        for earlier in instruction.before:
            earlier.after.append(instruction)
    _find_paths(program)
    _level_paths(program)


def _find_paths(program: Sequence[Instruction]) -> None:
    """Fill in ``path``, from the last instructions to the first."""
    missing = {instruction: len(instruction.after) for instruction in program}
    rest = dict.fromkeys(program, 0)
    ready = [instruction for instruction in program if not instruction.after]
    for instruction in ready:  # which grows meanwhile
        path = instruction.duration.cycles + instruction.duration.tail + rest[instruction]
        instruction.path = path
        for earlier in instruction.before:
            rest[earlier] = max(rest[earlier], path)
            missing[earlier] -= 1
            if not missing[earlier]:
                ready.append(earlier)
    assert len(ready) == len(program), "instructions wait for each other"


def _level_paths(program: Sequence[Instruction]) -> None:
    """Give instructions of a family their mean path.

    Edges are not evenly spread over strips. By its own path, the strip of most edges would come
    first in every panel, so that no panel is complete before the last one is.
    """
    families: dict[Name, list[Instruction]] = {}
    for instruction in program:
        if instruction.family is not None:
            families.setdefault(instruction.family, []).append(instruction)
    for family in families.values():
        mean = sum(instruction.path for instruction in family) // len(family)
        for instruction in family:
            instruction.path = mean


def _chain(instruction: Instruction, writers: Mapping[Name, Instruction]) -> None:
    """Fill in ``chain``."""
    written = {writers[name] for name in instruction.follows if name in writers}
    whole = {writers[name] for name in instruction.reads - instruction.follows if name in writers}
    if len(written) == 1 and not written & whole:
        [instruction.chain] = written


def _order_users(sharing: Sequence[Instruction], preceding: Sequence[Instruction] | None) -> None:
    """Make instructions that take accumulators follow the instructions that add to them.

    The schedule must not get stuck with all buffers in use, so nothing may need another buffer
    between the additions and the taking. Reductions may: they take a single buffer at a time, the
    next one begins when nothing of that kind is left to do, and while what takes them waits, the
    other buffer is left to what others need (``issue_order``). (What a GRADIENT reads may be
    written later in the program by GRADIENTs only, which are in the order of their buffers; and of
    these buffers' other users each has one addition.)
    """
    adding = {one for one in sharing if one.operation.adds}
    others = set().union(*(one.before for one in sharing if one not in adding)) - adding
    if sharing[0].operation.reduces:
        others = set()
    elif sharing[0].family is not None:
        # Of several strips, parts take turns in the operand buffer (``Tiling``). So what a further
        # addition needs may have to wait for a reduction, which needs the other buffer.
        others = set().union(*(one.before for one in sharing)) - set(sharing)
    if preceding:
        others = set().union(*(one.before for one in preceding)) | {
            one for one in preceding if one.operation.adds}
    for one in sharing:
        one.before |= others - {one} if one in adding else adding


# --- Waits --------------------------------------------------------------------------------------


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


class _Waits:
    """Issued instructions that may be under way."""

    def __init__(self, buffers: Mapping[Accumulators, int]) -> None:
        self._buffers = buffers
        self._running: dict[isa.Engine, list[_Access]] = {}

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
                     and any(other.adds != access.adds for other in running))
            if engine == own or not (mixed or any(access.conflicts(other) for other in running)):
                continue
            if engine == isa.Engine.VECTOR and instruction.follows:
                unchained = _Access(access.reads - instruction.follows, access.writes, access.adds)
                if not any(unchained.conflicts(other) for other in running):
                    chained = True
                    continue
            waits |= 1 << engine
            del self._running[engine]
        # The engine itself is free when the instruction is issued: its last one is done.
        self._running[own] = [access]
        if operation.arrivals is not None:
            # What arrives is added to accumulators, or written.
            arriving = (_Access(set(), set(), access.adds) if operation.reduces
                        else _Access(set(), instruction.writes))
            self._running.setdefault(operation.arrivals, []).append(arriving)
        return waits, chained
