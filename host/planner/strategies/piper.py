# SPDX-License-Identifier: BSD-2-Clause
"""Piper: a chain of stages over the network's graph, by all of its downsets.

(Tarnawski et al., Piper: Multidimensional Planner for DNN Parallelization, NeurIPS 2021.) A downset
is a set of operators with all that they read. Each stage leads from one downset to a larger one. So
the search is exhaustive, and it is what GraphPipe's is compared with. All stages fit their boards.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from hypercast.host.planner.operators import OperatorGraph
from hypercast.host.planner.pipeline_strategy import pipeline_strategy
from hypercast.host.planner.pipelines import BoardStage, Discipline, evaluate
from hypercast.host.planner.plan import Plan, Refusal, fastest
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.ranges import refusal
from hypercast.host.planner.stage_room import NONE_FIT, StageRoom, bits_of, numbers_of
from hypercast.reference.array_types import FloatArray, IntArray

__all__ = ["DISCIPLINE", "MOST_DOWNSETS", "STRATEGY", "partition", "plans"]

DISCIPLINE = Discipline(strategy="Piper")
#: More downsets are not searched: time grows with their square.
MOST_DOWNSETS = 500


def plans(problem: Problem) -> Iterator[Plan | Refusal]:
    """The one of the smallest bottleneck whose stages fit the boards.

    Where these stages fit with fewer micro-batches in flight only than ``SO`` takes, it is the
    faster one of two: the plan with their ``SNO``, and the plan with the best stages for ``SO``.
    """
    if reason := refusal(problem):
        yield Refusal(strategy=DISCIPLINE.strategy, reason=reason)
        return
    downsets = _downsets(problem.graph, MOST_DOWNSETS)
    if len(downsets) > MOST_DOWNSETS:
        yield Refusal(strategy=DISCIPLINE.strategy,
                      reason=f"the network has more than {MOST_DOWNSETS} downsets, each pair of "
                             f"which would have to be tried")
        return
    room = StageRoom(problem)
    limited = partition(problem, room, 1)
    stages = limited or partition(problem, room, 0)
    if len(stages) < 2:
        yield Refusal(strategy=DISCIPLINE.strategy, reason="one board takes no longer than several")
        return
    tried = [_evaluate(problem, stages, "SO" if limited else "SNO")]
    if limited and not isinstance(tried[0], Plan):
        tried.append(_evaluate(problem, stages, "SNO"))
        if others := partition(problem, room, 2):
            tried.append(_evaluate(problem, others, "SO"))
    found = [plan for plan in tried if isinstance(plan, Plan)]
    if found:
        yield from fastest(found)
    else:
        yield Refusal(strategy=DISCIPLINE.strategy,
                      reason=str(tried[0]) if limited else f"{NONE_FIT}; {tried[0]}")


def _evaluate(problem: Problem, stages: Sequence[tuple[int, ...]], schedule: str) -> Plan | str:
    """The plan of some stages, or what one of them lacks."""
    return evaluate(problem, DISCIPLINE, [
       BoardStage(stage, (board,))
       for stage, board in zip(stages, problem.fastest, strict=False)], schedule)


def partition(problem: Problem, room: StageRoom | None = None,
              behind: int = 2) -> list[tuple[int, ...]]:
    """The operators of each stage, for boards as fast as the slowest of all.

    Parameters
    ----------
    problem : Problem
        The training to plan, and its boards.
    room : StageRoom, optional
        The room of its boards, if it is known already.
    behind : int
        Micro-batches that a stage has in flight for each stage behind it, in addition to one; 0 if
        stages need not fit.

    Returns
    -------
    list of tuple
        Empty if no stages fit.
    """
    if not behind:
        return _search(problem, None, 0)
    known = room or StageRoom(problem)
    return known.settle(lambda: _search(problem, known, behind))


def _search(problem: Problem, room: StageRoom | None, behind: int) -> list[tuple[int, ...]]:
    graph, board = problem.graph, problem.fastest[-1]
    seconds = [operator.on(board).seconds for operator in graph.operators]
    needs = [bits_of(graph.sources[number]) for number in range(len(seconds))]
    boards = len(problem.boards)
    #: Micro-batches that a stage needs in flight, by the number of all stages, from 1, and of
    #: stages before it.
    flights = np.minimum(problem.micro_batches, 1 + behind * np.maximum(
        0, np.arange(boards)[:, np.newaxis] - np.arange(boards)))
    order = sorted(_downsets(graph), key=lambda one: (one.bit_count(), one))
    #: Downset to the smallest bottleneck of stages up to it, by the number of all stages, and of
    #: stages up to it; and the place in ``order`` where the last of them begins.
    best: dict[int, FloatArray] = {0: np.full((boards, boards + 1), np.inf)}
    best[0][:, 0] = 0.0
    begins: dict[int, IntArray] = {}
    for place, downset in enumerate(order):
        if downset not in best:
            continue
        mine = best[downset][:, :-1]
        for larger, time in _larger(downset, needs, seconds):
            theirs = best.setdefault(larger, np.full((boards, boards + 1), np.inf))
            origin = begins.setdefault(larger, np.zeros((boards, boards + 1), int))
            through = np.maximum(mine, time)
            better = through < theirs[:, 1:]
            if room and better.any():
                better &= flights <= [room.in_flight(larger & ~downset, one)
                                      for one in problem.fastest]
            theirs[:, 1:][better] = through[better]
            origin[:, 1:][better] = place
    whole = (1 << len(seconds)) - 1
    if whole not in best:
        return []
    count = int(np.argmin(np.diagonal(best[whole], 1)))
    if best[whole][count, count + 1] == np.inf:
        return []
    stages = []
    for used in range(count + 1, 0, -1):
        before = order[begins[whole][count, used]]
        stages.append(numbers_of(whole & ~before))
        whole = before
    return stages[::-1]


def _downsets(graph: OperatorGraph, most: int | None = None) -> list[int]:
    """All downsets as sets of bits; a few more than ``most``, if there are more."""
    needs = [bits_of(graph.sources[number]) for number in range(len(graph.operators))]
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
    """The downsets that hold one, and the seconds of their other operators."""
    seen, todo = {downset}, [(downset, 0.0)]
    while todo:
        one, time = todo.pop()
        for number, need in enumerate(needs):
            larger = one | 1 << number
            if larger not in seen and need & one == need:
                seen.add(larger)
                todo.append((larger, time + seconds[number]))
                yield todo[-1]


STRATEGY = pipeline_strategy(DISCIPLINE, plans)
