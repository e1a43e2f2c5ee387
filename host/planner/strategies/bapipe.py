# SPDX-License-Identifier: BSD-2-Clause
"""BaPipe: layers balanced over unequal boards, with the best of the schedules they can follow.

(Zhao et al., BaPipe: Exploration of Balanced Pipeline Parallelism for DNN Training, 2020.) Boards
may come in any order of their speeds, and some may be left out. A layer that is too much for its
board is split by feature columns between neighbours.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

from hypercast.host.cluster.board import Board
from hypercast.host.planner.pipeline_strategy import pipeline_strategy
from hypercast.host.planner.pipelines import Discipline, evaluate, pipeline_of, schedules_for
from hypercast.host.planner.plan import Plan, Refusal, fastest
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.ranges import Ranges, refusal
from hypercast.host.planner.strategies.equal_layers import equal_stages, obstacle

__all__ = ["DISCIPLINE", "STRATEGY", "board_orders", "plans"]

DISCIPLINE = Discipline(strategy="BaPipe")


def plans(problem: Problem) -> Iterator[Plan | Refusal]:
    """The fastest of all numbers of boards, orders of boards and schedules."""
    if reason := refusal(problem):
        yield Refusal(strategy=DISCIPLINE.strategy, reason=reason)
        return
    found, reasons = list[Plan](), list[str]()
    _try(problem, found, reasons)
    slices = _worth_splitting(problem)
    if max(slices) > 1:
        parts = list[Plan]()
        _try(problem.split(slices), parts, reasons)
        found += [replace(plan, split=slices, assignment=None) for plan in parts]
    if found:
        yield from fastest(found)
        return
    yield Refusal(strategy=DISCIPLINE.strategy, reason=reasons[0] if reasons else obstacle(
        problem, DISCIPLINE, schedules_for(equal_stages(problem, problem.boards))[0]))


def _worth_splitting(problem: Problem) -> tuple[int, ...]:
    """Pieces of each layer, none of which takes more than half of a board's share of all."""
    speeds = [1 / problem.graph.seconds(range(len(problem.layers)), board)
              for board in problem.boards]
    share = max(speeds) / sum(speeds) / 2
    board = problem.fastest[0]
    whole = problem.graph.seconds(range(len(problem.layers)), board)
    return tuple(
        min(most, math.ceil(problem.graph.seconds([number], board) / whole / share))
        for number, most in enumerate(problem.splittable))


def _try(problem: Problem, found: list[Plan], reasons: list[str]) -> None:
    """Collect plans of all numbers of boards, orders and schedules, or why there are none."""
    ranges = Ranges(problem)
    for count in range(2, min(len(problem.boards), len(problem.layers)) + 1):
        for boards in board_orders(problem, count):
            stages = ranges.balance(boards)
            if stages is None:
                continue
            pipeline = pipeline_of(problem, stages)
            least = sum(stage.seconds for stage in pipeline.stages) + pipeline.period * (
                problem.mean_step(float) - 1)
            if found and least >= max(plan.seconds for plan in fastest(found)):
                continue
            for schedule in schedules_for(stages):
                plan = evaluate(problem, DISCIPLINE, stages, schedule)
                if isinstance(plan, Plan):
                    found.append(plan)
                else:
                    reasons.append(plan)


def board_orders(problem: Problem, count: int) -> list[tuple[Board, ...]]:
    """The fastest boards, the fastest first, last, and as the cluster has them."""
    fastest = problem.fastest[:count]
    listed = tuple(board for board in problem.boards if board in fastest)
    kinds = {tuple(board.speed for board in order): order
             for order in (fastest, fastest[::-1], listed)}
    return list(kinds.values())


STRATEGY = pipeline_strategy(DISCIPLINE, plans)
