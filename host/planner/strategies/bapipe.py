"""BaPipe: layers balanced over unequal boards, with the best of the schedules they can follow.

(Zhao et al., BaPipe: Exploration of Balanced Pipeline Parallelism for DNN Training, 2020.) Boards
may come in any order of their speeds, and some may be left out.
"""

from collections.abc import Iterator

from hypercast.host.cluster.board import Board
from hypercast.host.planner.pipelines import Discipline, evaluated, pipeline_of, schedules_for
from hypercast.host.planner.plan import Plan, Refusal
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.ranges import Ranges, refused

__all__ = ["DISCIPLINE", "board_orders", "plans"]

DISCIPLINE = Discipline(strategy="BaPipe")


def plans(problem: Problem) -> Iterator[Plan | Refusal]:
    """The fastest of all numbers of boards, orders of boards and schedules."""
    if reason := refused(problem):
        yield Refusal(strategy=DISCIPLINE.strategy, reason=reason)
        return
    ranges, found, reasons = Ranges(problem), list[Plan](), list[str]()
    for count in range(2, min(len(problem.boards), len(problem.layers)) + 1):
        for boards in board_orders(problem, count):
            stages = ranges.balanced(boards)
            if stages is None:
                continue
            pipeline = pipeline_of(problem, stages)
            least = sum(stage.seconds for stage in pipeline.stages) + pipeline.period * (
                problem.micro_batches - 1)
            if found and least >= min(plan.seconds for plan in found):
                continue
            for schedule in schedules_for(stages):
                plan = evaluated(problem, DISCIPLINE, stages, schedule)
                if isinstance(plan, Plan):
                    found.append(plan)
                else:
                    reasons.append(plan)
    if found:
        yield min(found, key=lambda plan: plan.seconds)
        return
    yield Refusal(strategy=DISCIPLINE.strategy, reason=reasons[0] if reasons else (
        "no run of layers fits one of the boards, however they are dealt"))


def board_orders(problem: Problem, count: int) -> list[tuple[Board, ...]]:
    """The fastest boards, the fastest first, last, and as the cluster has them."""
    fastest = problem.fastest[:count]
    listed = tuple(board for board in problem.boards if board in fastest)
    kinds = {tuple(board.speed for board in order): order
             for order in (fastest, fastest[::-1], listed)}
    return list(kinds.values())
