# SPDX-License-Identifier: BSD-2-Clause
"""Baselines with as many layers on each board: GPipe, and one micro-batch after another.

(Huang et al., GPipe: Efficient Training of Giant Neural Networks using Pipeline Parallelism, 2019.)
"""

from collections.abc import Iterator, Sequence

from hypercast.host.cluster.board import Board
from hypercast.host.planner.pipeline_strategy import pipeline_strategy
from hypercast.host.planner.pipelines import BoardStage, Discipline, evaluate
from hypercast.host.planner.plan import Plan, Refusal
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.ranges import refusal

__all__ = ["GPIPE", "GPIPE_STRATEGY", "ONE_BY_ONE", "ONE_BY_ONE_STRATEGY", "equal_stages", "gpipe",
           "obstacle", "one_by_one"]

GPIPE = Discipline(strategy="GPipe, equal layers")
ONE_BY_ONE = Discipline(strategy="layers one after another")


def gpipe(problem: Problem) -> Iterator[Plan | Refusal]:
    """All micro-batches forward, then all backward."""
    return _plans(problem, GPIPE, "GPipe", single=False)


def one_by_one(problem: Problem) -> Iterator[Plan | Refusal]:
    """One board at work at a time."""
    return _plans(problem, ONE_BY_ONE, "SNO", single=True)


def equal_stages(problem: Problem, boards: Sequence[Board], width: int = 1) -> list[BoardStage]:
    """As many layers for each board, or group of ``width`` boards, give or take one."""
    layers, depth = range(len(problem.layers)), len(boards) // width
    ends = [round(len(layers) * stage / depth) for stage in range(depth + 1)]
    return [BoardStage(tuple(layers[ends[stage]:ends[stage + 1]]),
                       tuple(boards[stage * width:(stage + 1) * width])) for stage in range(depth)]


def obstacle(problem: Problem, discipline: Discipline, schedule: str, chunks: int = 1) -> str:
    """Why no run of layers fits a board, as text: what equal ones on as many boards lack."""
    count = min(len(problem.boards), len(problem.layers))
    found = evaluate(problem, discipline, equal_stages(problem, problem.boards[:count]), schedule,
                     chunks=chunks)
    text = "no run of layers fits one of the boards, however they are dealt"
    return text if isinstance(found, Plan) else f"{text}; {found}"


def _plans(problem: Problem, discipline: Discipline, schedule: str, *,
           single: bool) -> Iterator[Plan | Refusal]:
    if reason := refusal(problem):
        yield Refusal(strategy=discipline.strategy, reason=reason)
        return
    found = []
    for count in range(2, min(len(problem.boards), len(problem.layers)) + 1):
        stages = equal_stages(problem, problem.boards[:count])
        found.append(evaluate(problem, discipline, stages, schedule,
                              in_flight=[1] * count if single else None))
    plans = [plan for plan in found if isinstance(plan, Plan)]
    if plans:
        yield min(plans, key=lambda plan: plan.seconds)
    else:
        yield Refusal(strategy=discipline.strategy, reason=str(found[-1]))


ONE_BY_ONE_STRATEGY = pipeline_strategy(ONE_BY_ONE, one_by_one)
GPIPE_STRATEGY = pipeline_strategy(GPIPE, gpipe)
