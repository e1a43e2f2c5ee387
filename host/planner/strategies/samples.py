# SPDX-License-Identifier: BSD-2-Clause
"""Samples in parallel: every board has the whole model, and trains on samples of its own."""

import heapq
from collections.abc import Iterator, Sequence

from hypercast.host.cluster.assignment import SAMPLES, Assignment, turns
from hypercast.host.cluster.board import Board
from hypercast.host.planner.chip_limits import SUMMED, shortage
from hypercast.host.planner.parts_strategy import MICRO_BATCHES, parts_strategy
from hypercast.host.planner.pipelines import (
    BoardStage,
    agreed_seconds,
    reduced_seconds,
    stage_footprint,
)
from hypercast.host.planner.plan import Plan, PlannedShare, Refusal
from hypercast.host.planner.problem import Problem

__all__ = ["STRATEGY", "evaluated_samples", "plans"]

_NAME = "samples in parallel"


def plans(problem: Problem) -> Iterator[Plan | Refusal]:
    """The fastest, of as many boards as is best."""
    if not problem.statistics.sampled:
        yield Refusal(strategy=_NAME, reason="there are no samples: every step works on the whole "
                                             "graph; give --sampler")
        return
    if problem.micro_batches < 2:
        yield Refusal(strategy=_NAME, reason=f"a step has one sample; {problem.more_micro_batches}")
        return
    if len(problem.boards) < 2:
        yield Refusal(strategy=_NAME, reason="there is one board only")
        return
    found = [evaluated_samples(problem, problem.fastest[:count])
             for count in range(2, min(len(problem.boards), problem.micro_batches) + 1)]
    plans = [plan for plan in found if isinstance(plan, Plan)]
    if plans:
        yield min(plans, key=lambda plan: plan.seconds)
    else:
        yield Refusal(strategy=_NAME, reason=str(found[0]))


def evaluated_samples(problem: Problem, boards: Sequence[Board],
                      counts: Sequence[int] | None = None) -> Plan | str:
    """The ``Plan`` of samples on some boards, or why it is none.

    Parameters
    ----------
    problem : Problem
        The training to plan, and its boards.
    boards : sequence of Board
        The boards.
    counts : sequence of int, optional
        Micro-batches of each board; if not given, each goes to the board that is done with it
        first.
    """
    layers, memory = tuple(range(len(problem.layers))), {}
    for board in boards:
        need = stage_footprint(problem, BoardStage(layers, (board,)), board, 1)
        if excess := need.excess(board, "the whole model"):
            return excess
        if lacking := shortage(problem, layers, board, "the whole model", SUMMED):
            return lacking
        memory[board.name] = need.bytes_on(board)
    each = [problem.graph.seconds(layers, board) for board in boards]
    if counts is None:
        counts = _deal(problem.micro_batches, each)
    order = turns(counts)

    def computing(size: int) -> float:
        """Seconds of the last board to compute its share of so many micro-batches."""
        return max(order[:size].count(board) * seconds for board, seconds in enumerate(each))

    return Plan(
        strategy=_NAME, scheme=_NAME, units=problem.micro_batches, memory=memory,
        assignment=Assignment(scheme=SAMPLES, boards=tuple(board.name for board in boards),
                              micro_batches=tuple(counts)),
        seconds=problem.mean_step(computing) + reduced_seconds(problem, boards, problem.weights)
        + agreed_seconds(problem, boards),
        traffic=16.0 * (len(boards) - 1) * problem.weights,
        shares=tuple(PlannedShare(boards=(board.name,), layers=problem.numbers, micro_batches=count)
                     for board, count in zip(boards, counts, strict=True)))


def _deal(micro_batches: int, each: Sequence[float]) -> list[int]:
    """Micro-batches for boards that take some seconds for each."""
    done = [(seconds, number) for number, seconds in enumerate(each)]
    heapq.heapify(done)
    taken = [0] * len(each)
    for _ in range(micro_batches):
        end, number = heapq.heappop(done)
        taken[number] += 1
        heapq.heappush(done, (end + each[number], number))
    return taken


STRATEGY = parts_strategy(_NAME, MICRO_BATCHES, evaluated_samples, plans=plans)
