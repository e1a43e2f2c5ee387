# SPDX-License-Identifier: BSD-2-Clause
"""Rolls a program up into loops over strips of rows, whose number its length does not depend on.

A *traversal* is what a program does to all strips of rows in turn: a panel of a product, say, or
all panels of a neighbour sum. A loop does some traversals at once, strip by strip. What depends on
the same strip of another one lags a strip behind it, as in a software pipeline (Lam, Software
Pipelining, 1988). What depends on all strips comes in a later loop. A loop has the next neighbour
sum, if there is one, and as many other traversals as keep the other engines busy meanwhile, the
longest paths first.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from hypercast.errors import HypercastError
from hypercast.host.compiler.instruction import SHARED, Accumulators, Instruction
from hypercast.rtl.isa import LAG_WIDTH, LENGTH_WIDTH, STRIPS_WIDTH, DrainSource, Engine, Opcode

__all__ = ["BodyInstruction", "StripLoop", "UnlikeStripsError", "assign_buffers", "instructions_of",
           "roll"]

#: Cycles of an engine in a loop, compared with the traversal that the loop was made for, at most.
_SLACK = 1.2
#: Kinds of accumulators to their buffers.
_BUFFERS = dict.fromkeys(DrainSource, 2)


class UnlikeStripsError(HypercastError, ValueError):
    """Strips are not worked on by the same instructions, or not in the same buffers."""


@dataclass(frozen=True, kw_only=True)
class BodyInstruction:
    """An instruction of a loop's body.

    Parameters
    ----------
    strips : tuple of Instruction
        The instruction of each strip.
    lag : int
        Strips that it lags behind.
    """

    strips: tuple[Instruction, ...]
    lag: int

    @cached_property
    def strides(self) -> dict[str, int]:
        """What is added to fields from strip to strip, where that is not 0.

        Raises
        ------
        UnlikeStripsError
            If some strip's fields are others.
        """
        first, *others = (one.operands for one in self.strips)
        strides = {name: value - first[name] for name, value in (others or [first])[0].items()
                   if value != first.get(name, 0) and name != "row_limit"} if all(
            one.keys() == first.keys() for one in others) else None
        if strides is None or min(strides.values(), default=0) < 0 or any(
                one[name] != value + strip * strides.get(name, 0)
                for strip, one in enumerate(others, 1) for name, value in first.items()
                if name != "row_limit"):
            raise UnlikeStripsError
        return strides


@dataclass(frozen=True, kw_only=True)
class StripLoop:
    """A loop.

    Parameters
    ----------
    body : tuple of BodyInstruction
        The body, in the order in which it is issued.
    """

    body: tuple[BodyInstruction, ...]

    @property
    def strips(self) -> int:
        """How many strips there are."""
        return len(self.body[0].strips)

    @property
    def lags(self) -> int:
        """The most that an instruction lags."""
        return max(one.lag for one in self.body)

    @property
    def common(self) -> list[Accumulators]:
        """Accumulators that all strips add to."""
        return [first for body in self.body if (first := body.strips[0].accumulators)
                and first is body.strips[-1].accumulators]

    def turns(self) -> dict[DrainSource, dict[Accumulators, int]]:
        """For each kind, all other accumulators to the number of their turn."""
        common = set(self.common)
        adding: dict[DrainSource, dict[Accumulators, BodyInstruction]] = {}
        for one in self.body:
            first = one.strips[0].accumulators
            if first and first not in common and one.strips[0].operation.adds:
                adding.setdefault(first.kind, {}).setdefault(first, one)
        return {kind: {accumulators: (strip + one.lag) * len(own) + number
                       for number, one in enumerate(own.values())
                       for strip, each in enumerate(one.strips)
                       if (accumulators := each.accumulators)}
                for kind, own in adding.items()}

    def places(self) -> Iterator[tuple[int, int]]:
        """Number in the body, and strip, of what is issued."""
        for turn in range(self.strips + self.lags):
            for number, one in enumerate(self.body):
                if 0 <= turn - one.lag < self.strips:
                    yield number, turn - one.lag


@dataclass(eq=False)
class _Traversal:
    """Instructions on all strips in turn, or one that is of none.

    Parameters
    ----------
    key : tuple
        What all of its instructions have in common.
    strips : dict
        First row of a strip to its instructions; None for an instruction of none.
    after : dict
        Traversals that this one depends on, to whether it is only on the same strip, or on earlier
        ones.
    """

    key: object
    strips: dict[int | None, list[Instruction]] = field(default_factory=dict)
    after: dict["_Traversal", bool] = field(default_factory=dict)
    path: int = 0  # cycles from its start to the end of the program, at least

    @cached_property
    def load(self) -> Counter[Engine]:
        """Cycles of each engine."""
        load: Counter[Engine] = Counter()
        for some in self.strips.values():
            for one in some:
                load[one.engine] += one.duration.cycles
        return load

    @property
    def takes_sums(self) -> bool:
        """Whether it takes sums that several instructions added to, and leaves their buffer."""
        one = next(iter(self.strips.values()))[0]
        return one.opcode == Opcode.UPDATE

    @property
    def single(self) -> bool:
        """Whether it is one instruction that is of no strip, or of the only one."""
        return len(self.strips) == 1


def roll(program: Sequence[Instruction]) -> list[Instruction | StripLoop]:
    """The instructions of a program in loops.

    Parameters
    ----------
    program : sequence of Instruction
        Instructions with dependencies, in the order in which they were added. What they do in the
        ``SHARED`` place is no dependency: strips take turns there.

    Raises
    ------
    UnlikeStripsError
        If its strips are not alike.
    """
    traversals = _find_traversals(program)
    _find_order(traversals)
    rolled: list[Instruction | StripLoop] = []
    for group in _group(traversals):
        if group[0].single:
            rolled += [one for each in group for some in each.strips.values() for one in some]
        else:
            rolled.append(_loop(group))
    if not (_in_order(rolled) and _in_turns(rolled, traversals)):
        raise UnlikeStripsError
    return rolled


def assign_buffers(rolled: Iterable[Instruction | StripLoop]) -> dict[Accumulators, int]:
    """The buffer of each accumulators.

    They take turns with the buffers. What all strips of a loop add to, and what is taken out after
    the loop, keeps its buffer meanwhile. In a loop, what is passed over has its turn, too, so that
    the turns are the same on all strips.

    Raises
    ------
    UnlikeStripsError
        If there are not enough in some place.
    """
    takers = Counter(one.accumulators for one in instructions_of(rolled)
                     if one.accumulators and not one.operation.adds)
    free = {kind: list(range(count)) for kind, count in _BUFFERS.items()}
    found: dict[Accumulators, int] = {}

    def hold(accumulators: Accumulators) -> None:
        if accumulators not in found:
            if not free[accumulators.kind]:
                raise UnlikeStripsError
            found[accumulators] = free[accumulators.kind].pop(0)

    for part in rolled:
        if isinstance(part, StripLoop):
            for accumulators in part.common:
                hold(accumulators)
            for kind, own in part.turns().items():
                if not free[kind]:
                    raise UnlikeStripsError
                found |= {one: free[kind][turn % len(free[kind])] for one, turn in own.items()}
            continue
        if sums := part.accumulators:
            hold(sums)
            if not part.operation.adds:
                takers[sums] -= 1
                if not takers[sums]:
                    free[sums.kind].append(found[sums])
    return found


def instructions_of(rolled: Iterable[Instruction | StripLoop]) -> Iterator[Instruction]:
    """The instructions in the order in which they are issued."""
    for one in rolled:
        if isinstance(one, StripLoop):
            for number, strip in one.places():
                yield one.body[number].strips[strip]
        else:
            yield one


# --- Traversals ---------------------------------------------------------------------------------


def _find_traversals(program: Sequence[Instruction]) -> list[_Traversal]:
    """Traversals in the order of their first instructions; strips come in order within each."""
    traversals: list[_Traversal] = []
    last: int | None = None
    for one in program:
        key = (one.operands["phase"], one.opcode == Opcode.GRADIENT and one.accumulators,
               one.accumulators and one.accumulators.kind, one.strip is None and one)
        if not traversals or traversals[-1].key != key or (
                one.strip is not None and last is not None and one.strip < last):
            traversals.append(_Traversal(key))
        last = one.strip
        traversals[-1].strips.setdefault(one.strip, []).append(one)
    return traversals


def _find_order(traversals: Sequence[_Traversal]) -> None:
    """Fill in ``after`` and ``path``."""
    of = {one: (each, strip) for each in traversals for strip, some in each.strips.items()
          for one in some}
    for one, (own, strip) in of.items():
        for earlier in one.before:
            other, where = of[earlier]
            if other is not own:
                same = strip is not None and where is not None and where <= strip
                own.after[other] = own.after.get(other, True) and same
    rest = dict.fromkeys(traversals, 0)
    for traversal in reversed(traversals):
        traversal.path = max(traversal.load.values()) + rest[traversal]
        for other in traversal.after:
            rest[other] = max(rest[other], traversal.path)


def _group(traversals: Sequence[_Traversal]) -> Iterator[list[_Traversal]]:
    """Traversals that are done at once, one group after the other."""
    left, done = dict.fromkeys(traversals), set[_Traversal]()

    def ready(one: _Traversal, group: Iterable[_Traversal]) -> bool:
        return all(other in done or (same and other in group)
                   for other, same in one.after.items())

    while left:
        first = max((one for one in left if ready(one, ())),
                    key=lambda one: (one.takes_sums, one.load[Engine.AGGREGATE] > 0, one.path))
        group, load = {first: None}, Counter(first.load)
        most = _SLACK * max(first.load.values())
        while not first.single:
            others = [one for one in left if one not in group
                      and one.strips.keys() == first.strips.keys() and ready(one, group)
                      and all(load[engine] + cycles <= most
                              for engine, cycles in one.load.items())]
            if not others:
                break
            chosen = max(others, key=lambda one: one.path)
            group[chosen] = None
            load += chosen.load
        for one in group:
            del left[one]
        done.update(group)
        yield list(group)


# --- Bodies -------------------------------------------------------------------------------------


def _loop(group: Sequence[_Traversal]) -> StripLoop:
    """A loop of traversals; each depends on those before it only.

    Instructions are placed where their engine comes to them, if it goes through a strip in the same
    time as the busiest engine. What takes accumulators out follows what adds to them at
    once, before the engine goes on.
    """
    lags: dict[_Traversal, int] = {}
    for one in group:
        lags[one] = max((lags[other] + 1 for other in one.after if other in lags), default=0)
    busiest = max(sum((one.load for one in group), Counter[Engine]()).values())
    begun = Counter[Engine]()
    places: list[tuple[int, bool, int, BodyInstruction]] = []
    for traversal in sorted(group, key=lambda one: (lags[one], -one.path)):
        ends: dict[Accumulators | None, int] = {}
        for some in _alike(traversal):
            first = some[0]
            takes = first.accumulators in ends and not first.operation.adds
            at = ends[first.accumulators] if takes else begun[first.engine]
            if not takes:
                begun[first.engine] += sum(each.duration.cycles for each in some)
            if first.accumulators and first.operation.adds:
                ends[first.accumulators] = begun[first.engine]
            # What begins at the end of a strip begins with the next one.
            places.append((at % busiest, not takes, len(places), BodyInstruction(
                strips=some, lag=lags[traversal] + at // busiest)))
    body = tuple(found for *_, found in sorted(places, key=lambda place: place[:3]))
    loop = StripLoop(body=body)
    if loop.lags >> LAG_WIDTH or len(body) >> LENGTH_WIDTH or loop.strips >> STRIPS_WIDTH:
        raise UnlikeStripsError
    for instruction in body:
        instruction.strides  # noqa: B018  # strips have to have some
    return loop


def _alike(traversal: _Traversal) -> Iterator[tuple[Instruction, ...]]:
    """The instructions of a traversal, each of all strips."""
    every = list(traversal.strips.values())
    if len({len(some) for some in every}) > 1:
        raise UnlikeStripsError
    for some in zip(*every, strict=True):
        if len({one.opcode for one in some}) > 1:
            raise UnlikeStripsError
        yield some


def _in_order(rolled: Iterable[Instruction | StripLoop]) -> bool:
    """Whether all come after what they depend on."""
    seen = set[Instruction]()
    for one in instructions_of(rolled):
        if not one.before <= seen:
            return False
        seen.add(one)
    return True


def _in_turns(rolled: Iterable[Instruction | StripLoop],
              traversals: Iterable[_Traversal]) -> bool:
    """Whether no strip of a traversal uses the ``SHARED`` place in the midst of another one."""
    turns = {one: (turn, place) for turn, some in enumerate(
        some for each in traversals for some in each.strips.values())
        for place, one in enumerate(some) if SHARED in one.reads | one.writes}
    order = [turns[one] for one in instructions_of(rolled) if one in turns]
    firsts = {turn: number for number, (turn, _) in reversed([*enumerate(order)])}
    return order == sorted(order, key=lambda found: (firsts[found[0]], found[1]))
