# SPDX-License-Identifier: BSD-2-Clause
"""Orders a program's instructions so that engines overlap, each waiting for just what it needs.

Every instruction states what it reads and writes, and how long it takes. From that follows a graph
of dependencies, and from the graph some orders (``issue_orders``). The order that the cycle model
finishes first is taken. An engine runs one instruction at a time, so what may still be under way
when an instruction is issued is at most the last instruction of each engine, and the arrivals that
GRADIENT and UPDATE announce. An instruction waits for engines that have a conflicting instruction,
and for no others.

A program whose strips of rows are alike can be rolled up into loops instead (``strip_loops``).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from hypercast.host.compiler.execution import execute
from hypercast.host.compiler.instruction import (
    SHARED,
    Accumulators,
    Instruction,
    Issued,
    IssuedLoop,
    Name,
    name_turn,
)
from hypercast.host.compiler.issue_order import TRIALS, issue_orders
from hypercast.host.compiler.strip_loops import StripLoop, assign_buffers, roll
from hypercast.host.compiler.timing import Duration
from hypercast.host.compiler.waits import Waits
from hypercast.reference.tensor import Tensor
from hypercast.rtl import isa

__all__ = ["Schedule"]


class Schedule:
    """Programs, one after the other, each ordered when it is halted.

    Parameters
    ----------
    trials : int
        How many orders are tried, see ``issue_orders``.
    loops : bool
        Whether programs on several strips of rows are rolled up into loops.

    Attributes
    ----------
    parts : list of Issued or IssuedLoop
        Programs, in the order of their rows.
    """

    def __init__(self, trials: int = TRIALS, *, loops: bool = False) -> None:
        self.parts: list[Issued | IssuedLoop] = []
        self._trials, self._loops = trials, loops
        self._program: list[Instruction] = []

    @property
    def empty(self) -> bool:
        """Whether nothing has been added since a program was ended."""
        return not self._program

    @property
    def rows(self) -> int:
        """Rows of all programs."""
        return sum(map(_rows_of, self.parts))

    @property
    def words(self) -> list[int]:
        """Encoded rows."""
        return [word for part in self.parts for word in (
            [part.encode()] if isinstance(part, Issued) else part.encode())]

    @property
    def labels(self) -> list[tuple[int, Tensor]]:
        """Rows of the instructions that were given a label: none of a loop."""
        found, row = [], 0
        for part in self.parts:
            if isinstance(part, Issued) and part.label:
                found.append((row, part.label))
            row += _rows_of(part)
        return found

    @property
    def issued(self) -> list[Issued]:
        """Instructions in the order in which they are issued, of one program after the other."""
        return [one for part in self.parts for one in (
            [part] if isinstance(part, Issued) else part.issued)]

    @property
    def programs(self) -> dict[int, list[Issued]]:
        """The first row of each program that has ended, to what it issues, up to its HALT."""
        found: dict[int, list[Issued]] = {}
        row, first = 0, 0
        for part in self.parts:
            found.setdefault(first, []).extend([part] if isinstance(part, Issued) else part.issued)
            row += _rows_of(part)
            if isinstance(part, Issued) and part.opcode == isa.Opcode.HALT:
                first = row
        return found

    def add(self, opcode: isa.Opcode, fields: Mapping[str, int] | None = None, /, *,
            duration: Duration | None = None, reads: Iterable[Name] = (),
            writes: Iterable[Name] = (), follows: Iterable[Name] = (),
            accumulators: Accumulators | None = None, opens: Tensor | None = None,
            label: Tensor | None = None, family: Name = None, strip: int | None = None,
            **operands: int) -> None:
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
        strip : int, optional
            First row of the strip that it works on, if it is no other's.
        **operands
            Fields of the instruction.
        """
        self._program.append(Instruction(
            opcode, duration or Duration(), set(reads), set(writes), accumulators, opens, label,
            {**operands, **(fields or {})}, follows=frozenset(follows), family=family,
            strip=strip))

    def halt(self, *, phase: int, step: int) -> None:
        """End the program; with ``step``, also the training step. Waits for every engine.

        Raises
        ------
        UnlikeStripsError
            If the program is to have loops, but its strips are not alike.
        """
        halt = Issued(
            opcode=isa.Opcode.HALT, waits=(1 << len(isa.Engine)) - 1, duration=Duration(),
            operands={"phase": phase, "step": step})
        if self._loops:
            _find_dependencies(self._program, turns=False)
        rolled = roll(self._program) if self._loops else []
        if any(isinstance(part, StripLoop) for part in rolled):
            self.parts += [*_issue(rolled, assign_buffers(rolled)), halt]
        else:
            _find_dependencies(self._program)
            self.parts += self._order(halt)
        self._program = []

    def _order(self, halt: Issued) -> list[Issued]:
        """The program in the order that the cycle model finishes first."""
        phases = 1 + max([halt.operands["phase"],
                          *(one.operands["phase"] for one in self._program)])
        programs = ([*(one for one in _issue(order, buffers) if isinstance(one, Issued)), halt]
                    for order, buffers in issue_orders(self._program, self._trials))
        return min(programs, key=lambda program: execute(program, phases)[0]) \
            if self._trials else next(programs)


def _rows_of(part: Issued | IssuedLoop) -> int:
    return 1 if isinstance(part, Issued) else part.rows


def _issue(order: Iterable[Instruction | StripLoop],
           buffers: Mapping[Accumulators, int]) -> Iterator[Issued | IssuedLoop]:
    """Instructions in order, in their issued form."""
    waits, opened = Waits(buffers), set[Tensor]()

    def fields(one: Instruction) -> dict[str, int]:
        found = dict(one.operands)
        if one.accumulators:
            found["buffer"] = buffers[one.accumulators]
        if one.opens:
            found["open"] = one.opens not in opened
            opened.add(one.opens)
        return found

    for part in order:
        if isinstance(part, StripLoop):
            yield _issue_loop(part, waits, fields, buffers)
            continue
        operands, (needed, chained) = fields(part), waits.issue(part)
        if chained:
            operands["chained"] = 1
        yield Issued(opcode=part.opcode, waits=needed, duration=part.duration, operands=operands,
                     label=part.label)


def _issue_loop(loop: StripLoop, waits: Waits, fields: Callable[[Instruction], dict[str, int]],
                buffers: Mapping[Accumulators, int]) -> IssuedLoop:
    """A loop in its issued form: an instruction waits for what it has to wait for on any strip."""
    places = list(loop.places())
    found = [(number, fields(one), waits.issue(one)) for number, strip in places
             for one in [loop.body[number].strips[strip]]]
    needed, chained = Counter[int](), [True] * len(loop.body)
    for number, _, (_, follows) in found:
        chained[number] &= follows
    for number, _, (engines, follows) in found:
        unchained = follows and not chained[number]
        needed[number] |= engines | (1 << isa.Engine.VECTOR if unchained else 0)
    issued = []
    for (number, strip), (_, operands, _) in zip(places, found, strict=True):
        one = loop.body[number].strips[strip]
        if chained[number]:
            operands["chained"] = 1
        issued.append(Issued(opcode=one.opcode, waits=needed[number], duration=one.duration,
                             operands=operands, looped=True, label=one.label))
    firsts = {number: one for (number, strip), one in zip(places, issued, strict=True)
              if strip == 0}
    turns = [[buffers[one.accumulators] for one in body.strips if one.accumulators]
             for body in loop.body]
    return IssuedLoop(
        strips=loop.strips, lags=loop.lags, issued=tuple(issued), body=tuple(
            (firsts[number], body.lag,
             body.strides | ({"buffer": turns[number][0] ^ turns[number][1]}
                             if turns[number] else {}))
            for number, body in enumerate(loop.body)))


# --- Dependencies -------------------------------------------------------------------------------


def _find_dependencies(program: Sequence[Instruction], *, turns: bool = True) -> None:
    """Fill in ``before``, ``after``, ``chain`` and ``path``.

    With ``turns``, uses of the ``SHARED`` place stay in order. Without, what is read there only
    depends on what filled it, and whoever orders the program sees to it that strips take turns.
    """
    writers: dict[Name, Instruction] = {}
    readers: dict[Name, list[Instruction]] = {}
    users: dict[Accumulators, list[Instruction]] = {}
    fills = 0
    for instruction in program:
        instruction.before, instruction.after, instruction.chain = set(), [], None
        reads, writes = instruction.reads, instruction.writes
        if not turns:
            fills += SHARED in writes
            reads, writes = name_turn(reads, fills), name_turn(writes, fills)
        for name in reads:
            if name in writers:
                instruction.before.add(writers[name])
            readers.setdefault(name, []).append(instruction)
        for name in writes:
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
