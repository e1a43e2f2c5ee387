"""Piper: a chain of stages over the network's graph, by all of its downsets.

(Tarnawski et al., Piper: Multidimensional Planner for DNN Parallelization, NeurIPS 2021.) A downset
is a set of operators with all that they read. Each stage leads from one downset to a larger one. So
the search is exhaustive, and it is what GraphPipe's is compared with.
"""

from collections.abc import Iterator

import numpy as np

from hypercast.host.planner.operators import OperatorGraph
from hypercast.host.planner.pipelines import BoardStage, Discipline, evaluated
from hypercast.host.planner.plan import Plan, Refusal
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.ranges import refused
from hypercast.reference.array_types import FloatArray

__all__ = ["DISCIPLINE", "MOST_DOWNSETS", "partition", "plans"]

DISCIPLINE = Discipline(strategy="Piper")
#: More downsets are not searched: time grows with their square.
MOST_DOWNSETS = 500


def plans(problem: Problem) -> Iterator[Plan | Refusal]:
    """The one of the smallest bottleneck."""
    if reason := refused(problem):
        yield Refusal(strategy=DISCIPLINE.strategy, reason=reason)
        return
    downsets = _downsets(problem.graph, MOST_DOWNSETS)
    if len(downsets) > MOST_DOWNSETS:
        yield Refusal(strategy=DISCIPLINE.strategy,
                      reason=f"the network has more than {MOST_DOWNSETS} downsets, each pair of "
                             f"which would have to be tried")
        return
    stages = partition(problem)
    if len(stages) < 2:
        yield Refusal(strategy=DISCIPLINE.strategy, reason="one board takes no longer than several")
        return
    found = evaluated(problem, DISCIPLINE, [
        BoardStage(stage, (board,))
        for stage, board in zip(stages, problem.fastest, strict=False)], "SO")
    yield found if isinstance(found, Plan) else Refusal(strategy=DISCIPLINE.strategy, reason=found)


def partition(problem: Problem) -> list[tuple[int, ...]]:
    """The operators of each stage, for boards like the slowest of all."""
    graph, board = problem.graph, problem.fastest[-1]
    seconds = [operator.on(board).seconds for operator in graph.operators]
    needs = [sum(1 << source for source in graph.sources[number])
             for number in range(len(seconds))]
    boards = len(problem.boards)
    #: Downset to the smallest bottleneck on 0, 1, 2 ... boards, and where its last stage begins.
    best: dict[int, FloatArray] = {0: np.array([0.0] + [np.inf] * boards)}
    begins: dict[int, list[int]] = {0: [0] * (boards + 1)}
    for downset in sorted(_downsets(graph), key=lambda one: (one.bit_count(), one)):
        mine = best[downset]
        for larger, time in _larger(downset, needs, seconds):
            theirs = best.setdefault(larger, np.full(boards + 1, np.inf))
            origin = begins.setdefault(larger, [0] * (boards + 1))
            through = np.maximum(mine[:-1], time)
            for place in np.flatnonzero(through < theirs[1:]):
                theirs[place + 1] = through[place]
                origin[place + 1] = downset
    whole = (1 << len(seconds)) - 1
    used = int(np.argmin(best[whole]))
    stages = []
    while whole:
        before = begins[whole][used]
        stages.append(tuple(number for number in range(len(seconds))
                            if (whole & ~before) >> number & 1))
        whole, used = before, used - 1
    return stages[::-1]


def _downsets(graph: OperatorGraph, most: int | None = None) -> list[int]:
    """All downsets as sets of bits; a few more than ``most``, if there are more."""
    needs = [sum(1 << source for source in graph.sources[number])
             for number in range(len(graph.operators))]
    found, todo = {0}, [0]
    while todo and (most is None or len(found) <= most):
        downset = todo.pop()
        for number, need in enumerate(needs):
            larger = downset | 1 << number
            if larger not in found and need & downset == need:
                found.add(larger)
                todo.append(larger)
    return list(found)


def _larger(downset: int, needs: list[int], seconds: list[float]) -> Iterator[tuple[int, float]]:
    """The downsets that hold one, and the seconds of what they hold besides."""
    seen, todo = {downset}, [(downset, 0.0)]
    while todo:
        one, time = todo.pop()
        for number, need in enumerate(needs):
            larger = one | 1 << number
            if larger not in seen and need & one == need:
                seen.add(larger)
                todo.append((larger, time + seconds[number]))
                yield todo[-1]
