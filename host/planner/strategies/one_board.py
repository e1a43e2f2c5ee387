# SPDX-License-Identifier: BSD-2-Clause
"""One board does everything: what the others are compared with."""

from collections.abc import Iterator

from hypercast.host.planner.pipeline_strategy import pipeline_strategy
from hypercast.host.planner.pipelines import BoardStage, Discipline, evaluate
from hypercast.host.planner.plan import Plan, Refusal
from hypercast.host.planner.problem import Problem

__all__ = ["DISCIPLINE", "STRATEGY", "plans"]

DISCIPLINE = Discipline(strategy="one board", scheme="one board", chain=False)


def plans(problem: Problem) -> Iterator[Plan | Refusal]:
    """One for the fastest board that has room."""
    layers, reasons = tuple(range(len(problem.layers))), []
    for board in problem.fastest:
        found = evaluate(problem, DISCIPLINE, [BoardStage(layers, (board,))], "SNO")
        if isinstance(found, Plan):
            yield found
            return
        reasons.append(found)
    yield Refusal(strategy=DISCIPLINE.strategy, reason=reasons[0])


STRATEGY = pipeline_strategy(DISCIPLINE, plans)
