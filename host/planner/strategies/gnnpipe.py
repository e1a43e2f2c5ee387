# SPDX-License-Identifier: BSD-2-Clause
"""GNNPipe: runs of layers, each with the whole graph, in chunks of its vertices.

(Chen et al., GNNPipe: Scaling Deep GNN Training with Pipelined Model Parallelism, 2023.) A chunk
reads this epoch's rows of the chunks before it, and the last epoch's rows of the chunks after it.
"""

from collections.abc import Iterable, Iterator

from hypercast.host.planner.pipeline_strategy import pipeline_strategy
from hypercast.host.planner.pipelines import Discipline, evaluate
from hypercast.host.planner.plan import Plan, Refusal, fastest
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.ranges import Ranges, refusal
from hypercast.host.planner.strategies.bapipe import board_orders
from hypercast.host.planner.strategies.equal_layers import obstacle

__all__ = ["DISCIPLINE", "STRATEGY", "plans"]

DISCIPLINE = Discipline(strategy="GNNPipe", scheme="chunks through layers", chunked=True,
                        staleness="rows of later chunks, 1 epoch")
#: Numbers of chunks that are tried.
_CHUNKS = (2, 4, 8, 16, 32)


def plans(problem: Problem) -> Iterator[Plan | Refusal]:
    """The fastest of all numbers of boards and chunks."""
    if problem.statistics.sampled:
        yield Refusal(strategy=DISCIPLINE.strategy,
                      reason="steps work on samples; leave --sampler out to work on chunks of the "
                             "whole graph")
        return
    if reason := refusal(problem):
        yield Refusal(strategy=DISCIPLINE.strategy, reason=reason)
        return
    allowed = [chunks for chunks in _CHUNKS if chunks <= problem.statistics.vertices[0]]
    most = max(allowed, default=1)
    ranges, found = Ranges(problem, most), list[Plan]()
    for count in range(2, min(len(problem.boards), len(problem.layers)) + 1):
        for boards in board_orders(problem, count):
            stages = ranges.balance(boards, single=True)
            if stages is None:
                continue
            tried = [evaluate(problem, DISCIPLINE, stages, "GPipe", chunks=chunks)
                     for chunks in allowed]
            found += [plan for plan in tried if isinstance(plan, Plan)]
    if found:
        yield from fastest(found)
    else:
        yield Refusal(strategy=DISCIPLINE.strategy,
                      reason=obstacle(problem, DISCIPLINE, "GPipe", most))


def _counts(boards: int) -> Iterable[int]:
    return _CHUNKS if boards > 1 else ()


STRATEGY = pipeline_strategy(DISCIPLINE, plans, counts=_counts)
