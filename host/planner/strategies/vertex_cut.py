# SPDX-License-Identifier: BSD-2-Clause
"""A vertex cut: every board has a share of the edges, and the vertices at their ends.

A vertex of several boards is a vertex of its own on each, so boards exchange nothing but sums of
gradients; and another graph is trained on (Cao et al., CoFree-GNN: Communication-Free Distributed
GNN Training with Vertex Cut, 2023).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from hypercast.host.cluster.assignment import SAMPLES, Assignment
from hypercast.host.cluster.board import Board
from hypercast.host.description.description import Description
from hypercast.host.description.sampling import Sampling
from hypercast.host.planner.chip_limits import SUMMED, shortage
from hypercast.host.planner.parts_strategy import PART, parts_strategy
from hypercast.host.planner.pipelines import agreed_seconds, evenly, reduced_seconds
from hypercast.host.planner.plan import Plan, PlannedShare, Refusal, fastest
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.strategies.graph_parts import part_counts

__all__ = ["STRATEGY", "VERTEX_CUT", "evaluated_cut", "plans"]

#: The scheme of its plans.
VERTEX_CUT = "vertex cut"
_NAME = "CoFree-GNN"


def plans(problem: Problem) -> Iterator[Plan | Refusal]:
    """The fastest, of as many boards as is best; on unequal ones, of equal parts, too."""
    if problem.statistics.sampled:
        yield Refusal(strategy=_NAME, reason="steps work on samples; leave --sampler out to split "
                                             "the graph itself")
        return
    tried = list[Plan | str]()
    for count in part_counts(len(problem.boards)):
        boards = problem.fastest[:count]
        tried.append(evaluated_cut(problem, boards))
        if len({board.speed for board in boards}) > 1:
            tried.append(evaluated_cut(problem, boards, [1 / count] * count))
    found = [plan for plan in tried if isinstance(plan, Plan)]
    if found:
        yield from fastest(found)
    else:
        yield Refusal(strategy=_NAME, reason=str(tried[-1]) if tried else "there is one board only")


def evaluated_cut(problem: Problem, boards: Sequence[Board],
                  parts: Sequence[float] | None = None) -> Plan | str:
    """The ``Plan`` of shares of the edges on some boards, or why it is none.

    Parameters
    ----------
    problem : Problem
        The training to plan, and its boards.
    boards : sequence of Board
        Two boards at least.
    parts : sequence of float, optional
        Share of the edges of each board; all are done at once if not given.
    """
    count, layers = len(boards), range(len(problem.layers))
    whole, (vertices, edges) = problem.statistics, problem.statistics.cut(count)
    statistics = replace(whole, vertices=(vertices,) * len(whole.vertices),
                         edges=(edges,) * len(whole.edges))
    graph = problem.operators(statistics)
    each = [graph.seconds(layers, board) for board in boards]
    if parts is None:
        parts = evenly(each)
    memory, share = {}, f"one of {count} shares of the edges"
    for board, part in zip(boards, parts, strict=True):
        need = problem.lists(layers, board, statistics).times(part * count)
        for layer in layers:
            cost = graph.operators[layer].on(board)
            need += cost.resident + (cost.kept + cost.working).times(part * count)
        if excess := need.excess(board, share):
            return excess
        if lacking := shortage(problem, layers, board, share, SUMMED, statistics.part(
                1 / (part * count))):
            return lacking
        memory[board.name] = need.bytes_on(board)
    return Plan(
        strategy=_NAME, scheme=VERTEX_CUT, memory=memory, staleness="another graph",
        assignment=Assignment(scheme=SAMPLES, boards=tuple(board.name for board in boards),
                              micro_batches=(1,) * count) if len(set(parts)) == 1 else None,
        seconds=reduced_seconds(problem, boards, problem.weights)
        + agreed_seconds(problem, boards) + max(
            part * count * seconds for part, seconds in zip(parts, each, strict=True)),
        traffic=16.0 * (count - 1) * problem.weights,
        shares=tuple(PlannedShare(boards=(board.name,), part=part, layers=problem.numbers)
                     for board, part in zip(boards, parts, strict=True)))


def _describe(description: Description, plan: Plan) -> Description:
    """Parts are the samples of a step."""
    parts = len(plan.shares)
    return replace(description, sampling=Sampling(sampler="cut", parts=parts),
                   recipe=replace(description.recipe, micro_batches=parts))


STRATEGY = parts_strategy(_NAME, PART, evaluated_cut, plans=plans, describe=_describe,
                          counts=part_counts)
