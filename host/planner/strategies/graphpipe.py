"""GraphPipe: a directed graph of stages, found by taking the network's graph apart.

(Jeon et al., GraphPipe: Improving Performance and Scalability of DNN Training with Graph Pipeline
Parallelism, ASPLOS 2025.) An operator that every path passes ends a series. What lies between two
of them falls into branches, which are taken apart in turn. The bottleneck is searched by bisection.
For each one, every series is dealt to as few boards as possible. A stage may hold branches as a
whole, or each branch has stages of its own.
"""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from hypercast.host.planner.operators import OperatorGraph
from hypercast.host.planner.pipelines import BoardStage, Discipline, evaluated
from hypercast.host.planner.plan import Plan, Refusal
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.ranges import refused

__all__ = ["DISCIPLINE", "partition", "plans", "taken_apart"]

DISCIPLINE = Discipline(strategy="GraphPipe", scheme="graph of stages", chain=False)
#: Steps of the bisection: the bottleneck is found up to a millionth of the whole.
_STEPS = 20

#: A series: operators, and between them lists of branches, each a series.
Series: TypeAlias = list["int | list[Series]"]


def plans(problem: Problem) -> Iterator[Plan | Refusal]:
    """The fastest of all numbers of boards."""
    if reason := refused(problem):
        yield Refusal(strategy=DISCIPLINE.strategy, reason=reason)
        return
    found, reasons = list[Plan](), list[str]()
    for count in range(2, min(len(problem.boards), len(problem.layers)) + 1):
        stages = partition(problem, count)
        if len(stages) < 2:
            continue
        plan = evaluated(problem, DISCIPLINE, [
            BoardStage(stage, (board,))
            for stage, board in zip(stages, problem.fastest, strict=False)], "paths")
        if isinstance(plan, Plan):
            found.append(plan)
        else:
            reasons.append(plan)
    if found:
        yield min(found, key=lambda plan: plan.seconds)
    else:
        yield Refusal(strategy=DISCIPLINE.strategy, reason=reasons[0] if reasons else
                      "one board takes no longer than several")


def partition(problem: Problem, count: int) -> list[tuple[int, ...]]:
    """The operators of each stage, for at most ``count`` boards like the slowest of all."""
    graph, board = problem.graph, problem.fastest[-1]
    seconds = [operator.on(board).seconds for operator in graph.operators]
    series = taken_apart(graph, range(len(seconds)))
    low, high = max(seconds), sum(seconds)
    best = [tuple(range(len(seconds)))]
    for _ in range(_STEPS):
        middle = (low + high) / 2
        stages = _dealt(series, seconds, middle)
        if len(stages) <= count:
            best, high = stages, middle
        else:
            low = middle
    return best


def taken_apart(graph: OperatorGraph, numbers: Sequence[int]) -> Series:
    """A connected part of a graph as a series; what no rule takes apart stays in its order."""
    inside = {*numbers}
    behind = {number: _reached(number, graph.readers, inside) for number in numbers}
    before = {number: _reached(number, graph.sources, inside) for number in numbers}
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
                series.append([taken_apart(graph, branch) for branch in branches])
            elif passed:
                series += taken_apart(graph, between)
            else:
                series += between
        if number is not None:
            series.append(number)
            rest.discard(number)
    return series


def _reached(start: int, neighbours: Sequence[Sequence[int]], inside: set[int]) -> set[int]:
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
        part = {first, *_reached(first, both, left)}
        left -= part
        found.append(sorted(part))
    return found


def _operators(element: "int | list[Series]") -> list[int]:
    """All operators of an element of a series."""
    if isinstance(element, int):
        return [element]
    return [number for branch in element for one in branch for number in _operators(one)]


def _dealt(series: Series, seconds: Sequence[float], most: float) -> list[tuple[int, ...]]:
    """The fewest stages that take at most some seconds each."""
    parts = [_operators(element) for element in series]
    times = [sum(seconds[number] for number in part) for part in parts]
    alone = [[] if isinstance(element, int) else
             [stage for branch in element for stage in _dealt(branch, seconds, most)]
             for element in series]
    fewest = [0] + [10 ** 9] * len(series)
    begins = [0] * (len(series) + 1)  # -1 where the last element's branches have their own stages
    for end in range(1, len(series) + 1):
        if alone[end - 1]:
            fewest[end], begins[end] = fewest[end - 1] + len(alone[end - 1]), -1
        total = 0.0
        for begin in range(end - 1, -1, -1):
            total += times[begin]
            if total > most * (1 + 1e-12) and not (
                    begin == end - 1 and isinstance(series[begin], int)):
                break
            if fewest[begin] + 1 < fewest[end]:
                fewest[end], begins[end] = fewest[begin] + 1, begin
    stages, end = list[tuple[int, ...]](), len(series)
    while end:
        begin = begins[end]
        if begin < 0:
            stages = [*alone[end - 1], *stages]
            end -= 1
        else:
            stages.insert(0, tuple(sorted(
                number for part in parts[begin:end] for number in part)))
            end = begin
    return stages
