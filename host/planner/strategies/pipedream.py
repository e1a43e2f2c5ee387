# SPDX-License-Identifier: BSD-2-Clause
"""PipeDream: runs of layers, some on several boards; and two versions of weights, 2BW.

(Narayanan et al., PipeDream: Generalized Pipeline Parallelism for DNN Training, SOSP 2019; and
Memory-Efficient Pipeline-Parallel DNN Training, ICML 2021.)
"""

import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from hypercast.host.cluster.board import Board
from hypercast.host.cluster.reduction import reduction_seconds
from hypercast.host.planner.pipeline_strategy import pipeline_strategy
from hypercast.host.planner.pipelines import SUM_BYTES, BoardStage, Discipline, evaluate
from hypercast.host.planner.plan import Plan, Refusal, fastest
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.ranges import Ranges, refusal
from hypercast.host.planner.strategies.equal_layers import equal_stages, obstacle

__all__ = ["DISCIPLINE", "STRATEGY", "TWO_VERSIONS", "TWO_VERSIONS_STRATEGY", "plans", "plans_2bw"]

DISCIPLINE = Discipline(strategy="PipeDream", flush=False, versions=0,
                        staleness="weights, by the stages behind")
TWO_VERSIONS = Discipline(strategy="PipeDream-2BW", flush=False, versions=2,
                          staleness="weights, 1 step")


def plans(problem: Problem) -> Iterator[Plan | Refusal]:
    """The plans of its dynamic programme, with stashed weights; of a board for each stage, too.

    Its boards may all have one stage with all layers. They are samples in parallel then, and no
    weights are older.
    """
    if reason := _alone(problem) or _refuse_samples(problem):
        yield Refusal(strategy=DISCIPLINE.strategy, reason=reason)
        return
    stages = _partition(problem, len(problem.boards))
    if not stages:
        yield Refusal(strategy=DISCIPLINE.strategy, reason=obstacle(problem, DISCIPLINE, "SNO"))
        return
    tried = [_evaluate(problem, stages)]
    if len(stages) > 1 and any(len(stage.boards) > 1 for stage in stages):  # not trained yet
        stages = _partition(problem, 1)
        if len(stages) > 1:
            tried.append(_evaluate(problem, stages))
    found = [plan for plan in tried if isinstance(plan, Plan)]
    if found:
        yield from fastest(found)
    else:
        yield Refusal(strategy=DISCIPLINE.strategy, reason=str(tried[0]))


def _evaluate(problem: Problem, stages: Sequence[BoardStage]) -> Plan | str:
    """The plan of some stages, with as many micro-batches in flight as keep all boards busy."""
    behind = [sum(len(stage.boards) for stage in stages[number:])
              for number in range(len(stages))]
    flights = [math.ceil(boards / len(stage.boards))
               for boards, stage in zip(behind, stages, strict=True)]
    return evaluate(problem, DISCIPLINE, stages, "SNO", in_flight=flights)


def plans_2bw(problem: Problem) -> Iterator[Plan | Refusal]:
    """The fastest of depth times width, with as many layers in each stage."""
    if reason := refusal(problem) or _refuse_samples(problem):
        yield Refusal(strategy=TWO_VERSIONS.strategy, reason=reason)
        return
    tried = list[Plan | str]()
    most = min(len(problem.boards), problem.micro_batches)  # each takes one at least
    for depth in range(2, min(most, len(problem.layers)) + 1):
        for width in range(1, most // depth + 1):
            stages = equal_stages(problem, problem.fastest[:depth * width], width)
            tried.append(evaluate(problem, TWO_VERSIONS, stages, "SNO"))
    found = [plan for plan in tried if isinstance(plan, Plan)]
    if found:
        yield from fastest(found)
    else:
        yield Refusal(strategy=TWO_VERSIONS.strategy, reason=str(tried[-1]))


def _alone(problem: Problem) -> str:
    return "there is one board only" if len(problem.boards) < 2 else ""


def _refuse_samples(problem: Problem) -> str:
    if problem.micro_batches > 1:
        return ""
    remedy = problem.more_micro_batches if problem.statistics.sampled else (
        "train on samples, with --micro-batches")
    return f"a step has one micro-batch, so that there is nothing to overlap; {remedy}"


class _Best(NamedTuple):
    """The best of some first layers on some boards: bottleneck, where its last stage begins, and
    how many boards that has."""

    seconds: float
    begin: int
    boards: int


def _partition(problem: Problem, widest: int) -> list[BoardStage]:
    """The stages of the dynamic programme, for equal boards: the slowest of all.

    A stage has at most ``widest`` boards, and no more than a step has micro-batches, as each takes
    one of them. There are no stages if no runs of layers fit the chips.
    """
    widest = min(widest, problem.micro_batches)
    boards, ranges = problem.fastest, Ranges(problem)
    board, count, layers = boards[-1], len(boards), len(problem.layers)
    slow = min((problem.cluster.route(one, other)
                for one in boards for other in boards if one is not other),
               key=lambda route: route.bandwidth)

    @cache
    def reduced(width: int, weights: int) -> float:
        return reduction_seconds([slow], width, weights * SUM_BYTES)

    sums = [0]
    for operator in problem.graph.operators:
        sums.append(sums[-1] + operator.weights)
    table: dict[tuple[int, int], _Best] = {(0, used): _Best(0.0, 0, 0)
                                           for used in range(count + 1)}
    for end in range(1, layers + 1):
        for used in range(1, count + 1):
            best = _Best(math.inf, 0, 0)
            for begin in range(end):
                transfer = 2 * ranges.cuts[begin] / slow.bandwidth if begin else 0.0
                if transfer >= best.seconds or not ranges.fits_chip(begin, end, board):
                    continue
                own, size = ranges.seconds(begin, end, board), sums[end] - sums[begin]
                for width in range(1, min(used - bool(begin), widest) + 1):
                    before = table[begin, used - width].seconds
                    if before < best.seconds:
                        added = reduced(width, size)
                        seconds = max((own + added) / width, before, transfer)
                        best = min(best, _Best(seconds, begin, width))
            table[end, used] = best
    used, end = min(range(1, count + 1), key=lambda used: table[layers, used].seconds), layers
    if table[end, used].seconds == math.inf:
        return []
    cut: list[tuple[int, int, int]] = []
    while end:
        _, begin, width = table[end, used]
        cut.append((begin, end, width))
        used, end = used - width, begin
    stages, first = [], 0
    for begin, end, width in reversed(cut):
        taken: tuple[Board, ...] = boards[first:first + width]
        stages.append(BoardStage(tuple(range(begin, end)), taken))
        first += width
    return stages


STRATEGY = pipeline_strategy(DISCIPLINE, plans)
TWO_VERSIONS_STRATEGY = pipeline_strategy(TWO_VERSIONS, plans_2bw)
