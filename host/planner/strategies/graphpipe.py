# SPDX-License-Identifier: BSD-2-Clause
"""GraphPipe: a directed graph of stages, found by taking the network's graph apart.

(Jeon et al., GraphPipe: Improving Performance and Scalability of DNN Training with Graph Pipeline
Parallelism, ASPLOS 2025.) An operator that every path passes ends a series. What lies between two
of them falls into branches, which are taken apart in turn. The bottleneck is searched by bisection.
For each one, every series is dealt to as few boards as possible. A stage may hold branches as a
whole, or each branch has stages of its own. All stages fit their boards.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from hypercast.host.planner.operators import OperatorGraph
from hypercast.host.planner.pipeline_strategy import pipeline_strategy
from hypercast.host.planner.pipelines import BoardStage, Discipline, evaluate
from hypercast.host.planner.plan import Plan, Refusal, fastest
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.ranges import refusal
from hypercast.host.planner.stage_room import NONE_FIT, StageRoom, bits_of

__all__ = ["DISCIPLINE", "STRATEGY", "partition", "plans", "take_apart"]

DISCIPLINE = Discipline(strategy="GraphPipe", scheme="graph of stages", chain=False)
#: Steps of the bisection: the bottleneck is found up to a millionth of the whole.
_STEPS = 20
#: More stages than there are.
_NONE = 10 ** 9

#: A series: operators, and between them lists of branches, each a series.
Series: TypeAlias = list["int | list[Series]"]


def plans(problem: Problem) -> Iterator[Plan | Refusal]:
    """The fastest of all numbers of boards.

    Where a board lacks memory for as many micro-batches in flight as ``paths`` takes, the schedule
    is ``SNO``, which takes fewest.
    """
    if reason := refusal(problem):
        yield Refusal(strategy=DISCIPLINE.strategy, reason=reason)
        return
    found, reasons, room = list[Plan](), list[str](), StageRoom(problem)
    most = min(len(problem.boards), len(problem.layers))
    divided = [partition(problem, count, room) for count in range(2, most + 1)]
    for stages in divided:
        if len(stages) < 2:
            continue
        plan = _evaluate(problem, stages)
        if isinstance(plan, Plan):
            found.append(plan)
        else:
            reasons.append(plan)
    if not any(divided):
        plan = _evaluate(problem, partition(problem, most, limited=False))
        if isinstance(plan, Plan):
            found.append(plan)
        else:
            reasons.append(f"{NONE_FIT}; {plan}")
    if found:
        yield from fastest(found)
    else:
        yield Refusal(strategy=DISCIPLINE.strategy, reason=reasons[0] if reasons else
                      "one board takes no longer than several")


def _evaluate(problem: Problem, stages: Sequence[tuple[int, ...]]) -> Plan | str:
    """The plan of some stages, or what one of them lacks."""
    on_boards = [BoardStage(stage, (board,))
                 for stage, board in zip(stages, problem.fastest, strict=False)]
    plan = evaluate(problem, DISCIPLINE, on_boards, "paths")
    return plan if isinstance(plan, Plan) else evaluate(problem, DISCIPLINE, on_boards, "SNO")


def partition(problem: Problem, count: int, room: StageRoom | None = None, *,
              limited: bool = True) -> list[tuple[int, ...]]:
    """The operators of each stage, for at most ``count`` boards as fast as the slowest of all.

    Parameters
    ----------
    problem : Problem
        The training to plan, and its boards.
    count : int
        How many boards there are, of the fastest ones.
    room : StageRoom, optional
        The room of the boards, if it is known already.
    limited : bool
        Whether each stage fits its board, with as many micro-batches in flight as there are stages
        from it to the end.

    Returns
    -------
    list of tuple
        Empty if no stages fit.
    """
    graph, board = problem.graph, problem.fastest[-1]
    seconds = [operator.on(board).seconds for operator in graph.operators]
    series = take_apart(graph, range(len(seconds)))
    even = _balance(seconds, lambda most: _shallow(
       series, seconds, most, count, lambda stage: True))
    if not limited:
        return even
    known = room or StageRoom(problem)
    return known.settle(lambda: even if _fit(problem, known, even) else _balance(
       seconds, lambda most: _fit_stages(problem, known, series, seconds, most, count)))


def _balance(seconds: Sequence[float],
             dealt: Callable[[float], list[tuple[int, ...]]]) -> list[tuple[int, ...]]:
    """The stages of the smallest bottleneck; ``dealt`` has none if it is too small."""
    low, high = max(seconds), sum(seconds)
    best = dealt(high)
    for _ in range(_STEPS if best else 0):
        middle = (low + high) / 2
        if stages := dealt(middle):
            best, high = stages, middle
        else:
            low = middle
    return best


def _shallow(series: Series, seconds: Sequence[float], most: float, count: int,
             fits: Callable[[int], bool]) -> list[tuple[int, ...]]:
    """Stages that take at most some seconds each, and fit wherever they are."""
    [dealt] = _Dealer(seconds, most, lambda stage, behind: fits(stage), 0, False).deal(series)
    return dealt.stages if dealt and len(dealt.stages) <= count else []


def _fit_stages(problem: Problem, room: StageRoom, series: Series, seconds: Sequence[float],
                most: float, count: int) -> list[tuple[int, ...]]:
    """Stages that take at most some seconds each, and fit where they are.

    Stages that fit with one micro-batch in flight come first. If they fit where they are, too,
    there are none better.
    """
    kinds = {board.speed: board for board in problem.fastest[:count]}.values()
    stages = _shallow(series, seconds, most, count, lambda stage: any(
        room.in_flight(stage, board) for board in kinds))
    if not stages or _fit(problem, room, stages):
        return stages

    def fits(stage: int, behind: int) -> bool:
        return all(room.in_flight(stage, board) > behind for board in kinds)

    dealer = _Dealer(seconds, most, fits, min(problem.micro_batches, count) - 1,
                     bool(problem.graph.skips))
    dealt, *_ = dealer.deal(series)
    return dealt.stages if dealt and len(dealt.stages) <= count else []


def _fit(problem: Problem, room: StageRoom, stages: Sequence[tuple[int, ...]]) -> bool:
    """Whether each of some stages fits its board, with no more in flight than it has to have."""
    return all(room.in_flight(bits_of(stage), board) >= min(problem.micro_batches, behind + 1)
               for stage, board, behind in zip(
                   stages, problem.fastest, _behind(problem.graph, stages), strict=False))


def _behind(graph: OperatorGraph, stages: Sequence[tuple[int, ...]]) -> list[int]:
    """For each stage, how many there are on the longest way from it to an end."""
    place = {number: where for where, stage in enumerate(stages) for number in stage}
    found = [0] * len(stages)
    # A gradient of an operator that several read passes from one of them to the other.
    edges = {(place[one], place[other]) for one, other in (
        *graph.edges, *((taker, target) for _, target, taker in graph.skips))}
    for source, target in sorted(edges, reverse=True):
        if source != target:
            found[source] = max(found[source], found[target] + 1)
    return found


def take_apart(graph: OperatorGraph, numbers: Sequence[int]) -> Series:
    """A connected part of a graph as a series; what no rule takes apart stays in its order."""
    inside = {*numbers}
    behind = {number: _reach(number, graph.readers, inside) for number in numbers}
    before = {number: _reach(number, graph.sources, inside) for number in numbers}
    passed = [number for number in numbers
              if len(behind[number]) + len(before[number]) == len(numbers) - 1]
    series: Series = []
    rest = set(inside)
    for number in [*passed, None]:
        between = sorted(rest if number is None else rest & before[number])
        rest -= {*between}
        if between:
            branches = _components(graph, between)
            if len(branches) > 1:
                series.append([take_apart(graph, branch) for branch in branches])
            elif passed:
                series += take_apart(graph, between)
            else:
                series += between
        if number is not None:
            series.append(number)
            rest.discard(number)
    return series


def _reach(start: int, neighbours: Sequence[Sequence[int]], inside: set[int]) -> set[int]:
    found: set[int] = set()
    todo = [start]
    while todo:
        for other in neighbours[todo.pop()]:
            if other in inside and other not in found:
                found.add(other)
                todo.append(other)
    return found


def _components(graph: OperatorGraph, numbers: Sequence[int]) -> list[list[int]]:
    """The parts of a graph that no edge joins."""
    left, found = {*numbers}, []
    both = [(*graph.readers[number], *graph.sources[number])
            for number in range(len(graph.operators))]
    while left:
        first = min(left)
        part = {first, *_reach(first, both, left)}
        left -= part
        found.append(sorted(part))
    return found


def _operators(element: "int | list[Series]") -> list[int]:
    """All operators of an element of a series."""
    if isinstance(element, int):
        return [element]
    return [number for branch in element for one in branch for number in _operators(one)]


class _Dealt(NamedTuple):
    """Stages of a series from its begin to an end, and the most of them with stages behind."""

    stages: list[tuple[int, ...]]
    behind: int


class _Dealer:
    """Deals series to the fewest stages that take at most some seconds each, and fit.

    Parameters
    ----------
    seconds : sequence of float
        What each operator takes.
    most : float
        What a stage takes at most.
    fits : callable
        Whether a stage fits, as of ``bits_of``, with so many stages behind it.
    deepest : int
        Stages with more behind them fit where they would fit with so many.
    linked : bool
        Whether the first stages of branches wait for each other on the way back.
    """

    def __init__(self, seconds: Sequence[float], most: float, fits: Callable[[int, int], bool],
                 deepest: int, linked: bool) -> None:
        self._seconds, self._most, self._fits = seconds, most, fits
        self._places, self._linked = range(deepest + 1), linked

    def deal(self, series: Series, last: int = 0) -> list[_Dealt | None]:
        """The stages of a series, by the number of stages behind it; None where none fit.

        The first stage has at least ``last`` stages behind it.
        """
        deepest = self._places[-1]
        parts = [_operators(element) for element in series]
        bits = [bits_of(part) for part in parts]
        times = [sum(self._seconds[number] for number in part) for part in parts]
        # Of the elements up to one, by the number of stages behind them: how many stages, where the
        # last one begins, and how many are behind what is before that. It begins nowhere if the
        # last element's branches have their own stages.
        fewest = [[0 for _ in self._places]]
        begins: list[list[tuple[int, int]]] = [[]]
        branches: list[list[_Dealt | None]] = []
        for end, element in enumerate(series, 1):
            fewest.append([_NONE for _ in self._places])
            begins.append([(0, 0) for _ in self._places])
            branches.append([] if isinstance(element, int) else
                            self._beside(element, last if end == 1 else 0))
            for behind in self._places:
                best, found = _NONE, (0, 0)
                if branches[-1] and (one := branches[-1][behind]):
                    best, found = fewest[end - 1][one.behind] + len(one.stages), (-1, one.behind)
                total, stage = 0.0, 0
                for begin in range(end - 1, -1, -1):
                    total += times[begin]
                    stage |= bits[begin]
                    if total > self._most * (1 + 1e-12) and not (
                            begin == end - 1 and isinstance(element, int)):
                        break
                    place = behind if begin else min(max(behind, last), deepest)
                    after = min(place + 1, deepest)
                    if fewest[begin][after] + 1 < best and self._fits(stage, place):
                        best, found = fewest[begin][after] + 1, (begin, after)
                fewest[end][behind], begins[end][behind] = min(best, _NONE), found
        return [self._stages(parts, branches, begins, behind)
                if fewest[-1][behind] < _NONE else None for behind in self._places]

    def _stages(self, parts: list[list[int]], branches: list[list[_Dealt | None]],
                begins: list[list[tuple[int, int]]], behind: int) -> _Dealt:
        """The stages where each begins as it was found."""
        stages, end = list[tuple[int, ...]](), len(parts)
        while end:
            begin, after = begins[end][behind]
            if begin < 0:
                own = branches[end - 1][behind]
                assert own
                stages = [*own.stages, *stages]
                end -= 1
            else:
                stages.insert(0, tuple(sorted(
                    number for part in parts[begin:end] for number in part)))
                end = begin
            behind = after
        return _Dealt(stages, behind)

    def _beside(self, branches: "list[Series]", last: int) -> list[_Dealt | None]:
        """Stages of branches of their own, as ``dealt`` has them."""
        deepest, known = self._places[-1], dict[tuple[int, int], list[_Dealt | None]]()
        found = list[_Dealt | None]()
        for behind in self._places:
            stages, first, mine = list[tuple[int, ...]](), behind, last
            for number in reversed(range(len(branches))):
                if (number, mine) not in known:
                    known[number, mine] = self.deal(branches[number], mine)
                one = known[number, mine][behind]
                if one is None:
                    found.append(None)
                    break
                stages = [*one.stages, *stages]
                first = max(first, one.behind)
                mine = max(last, min(one.behind, deepest)) if self._linked else last
            else:
                found.append(_Dealt(stages, first))
        return found


STRATEGY = pipeline_strategy(DISCIPLINE, plans)
