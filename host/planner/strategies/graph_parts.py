# SPDX-License-Identifier: BSD-2-Clause
"""The graph in parallel: every board has a part of the vertices; exact, or with stale halos.

Before a layer's sums over neighbours, boards exchange the rows that others read: their halos. With
stale halos (Wan et al., PipeGCN: Efficient Full-Graph Training of Graph Convolutional Networks with
Pipelined Feature Communication, ICLR 2022) the halos of the epoch before are taken, which were sent
while something else was computed.
"""

import math
from collections.abc import Iterator, Sequence
from functools import partial

from hypercast.host.cluster.assignment import GRAPH, Assignment
from hypercast.host.cluster.board import NO_OVERLAP, Board
from hypercast.host.planner.chip_limits import shortage
from hypercast.host.planner.operators import Footprint
from hypercast.host.planner.parts_strategy import PART, parts_strategy
from hypercast.host.planner.pipelines import agreed_seconds, evenly, reduced_seconds
from hypercast.host.planner.plan import EXACT, Plan, PlannedShare, Refusal
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.statistics import Statistics

__all__ = ["EXACT_STRATEGY", "STALE_STRATEGY", "evaluated_parts", "exact", "part_counts", "stale"]

_EXACT_NAME, _STALE_NAME = "graph in parallel", "PipeGCN"


def exact(problem: Problem) -> Iterator[Plan | Refusal]:
    """The fastest with exact halos, of as many boards as is best."""
    yield _best(problem, _EXACT_NAME, hidden=False)


def stale(problem: Problem) -> Iterator[Plan | Refusal]:
    """The fastest with halos of the epoch before."""
    yield _best(problem, _STALE_NAME, hidden=True)


def part_counts(boards: int) -> list[int]:
    """Numbers of boards that are tried: powers of two, and all."""
    return sorted({boards, *(1 << power for power in range(1, boards.bit_length()))} - {0, 1})


def _best(problem: Problem, name: str, *, hidden: bool) -> Plan | Refusal:
    if problem.statistics.sampled:
        return Refusal(strategy=name, reason="steps work on samples; leave --sampler out to split "
                                             "the graph itself")
    boards = problem.fastest
    counts = part_counts(min(len(boards), problem.statistics.vertices[0]))
    if not counts:
        return Refusal(strategy=name, reason="there is one board only")
    found = [evaluated_parts(problem, boards[:count], hidden=hidden) for count in counts]
    plans = [plan for plan in found if isinstance(plan, Plan)]
    if plans:
        return min(plans, key=lambda plan: plan.seconds)
    return Refusal(strategy=name, reason=str(found[-1]))


def evaluated_parts(problem: Problem, boards: Sequence[Board],
                    parts: Sequence[float] | None = None, *, hidden: bool) -> Plan | str:
    """The ``Plan`` of parts of the graph on some boards, or why it is none.

    Parameters
    ----------
    problem : Problem
        The training to plan, and its boards.
    boards : sequence of Board
        Two boards at least.
    parts : sequence of float, optional
        Share of the vertices of each board; all are done at once if not given.
    hidden : bool
        Whether halos are taken from the epoch before.
    """
    name = _STALE_NAME if hidden else _EXACT_NAME
    count, layers = len(boards), range(len(problem.layers))
    exchanges, lanes = problem.exchanges, boards[0].config.lanes
    if parts is None:
        mean = problem.operators(problem.statistics.part(count))
        parts = evenly([mean.seconds(layers, board) for board in boards])
    owns, halos = _share_graph(problem.statistics, parts)
    graphs = [problem.operators(own) for own in owns]
    # Each core injects a flit a cycle: of others' rows, too.
    panels = sum(-(-columns // lanes) for columns in problem.sent_columns)
    injecting = [panels * halo / board.config.cores / board.clock
                 for halo, board in zip(halos, boards, strict=True)]
    if hidden:
        computing = max(graph.seconds(layers, board) + more
                        for graph, board, more in zip(graphs, boards, injecting, strict=True))
    else:  # each layer waits for the slowest board's rows, there and back
        costs = [[graph.operators[layer].on(board)
                  for graph, board in zip(graphs, boards, strict=True)] for layer in layers]
        computing = max(injecting) + sum(
            max(one.forward for one in cost) + max(one.backward for one in cost)
            for cost in costs)
    row = sum(exchanges) * boards[0].config.element_width // 8
    size = max(halos) * row
    routes = [problem.cluster.route(one, other)
              for one in boards for other in boards if one is not other]
    slow = max(routes, key=lambda route: route.seconds(size / (count - 1)))
    passing = size / slow.bandwidth
    waits = any(board.transfers == NO_OVERLAP for board in boards)
    memory, share = {}, f"one of {count} parts of the graph"
    for board, own, graph, halo in zip(boards, owns, graphs, halos, strict=True):
        need = problem.lists(layers, board, own, halo)
        for layer in layers:
            cost = graph.operators[layer].on(board)
            need += cost.resident + cost.kept + cost.working
        kept = sum(exchanges) if hidden else max(exchanges, default=0)
        need += Footprint(features=-(-kept // lanes) * -(-halo // board.config.cores))
        if excess := need.excess(board, share):
            return excess
        if lacking := shortage(problem, layers, board, share, statistics=own, halo=halo):
            return lacking
        memory[board.name] = need.bytes_on(board)
    seconds = computing + reduced_seconds(problem, boards, problem.weights) \
        + agreed_seconds(problem, boards)
    if hidden and not waits:
        seconds = max(seconds, passing)
    else:
        # Messages to several boards follow each other: one latency for all.
        seconds += passing + len(exchanges) * slow.latency
    return Plan(
        strategy=name, scheme=_EXACT_NAME, memory=memory, seconds=seconds,
        assignment=Assignment(scheme=GRAPH, boards=tuple(board.name for board in boards),
                              parts=tuple(parts), smoothing=0.0 if hidden else None),
        traffic=float(sum(halos) * row + 16 * (count - 1) * problem.weights),
        staleness="halos, 1 epoch" if hidden else EXACT,
        shares=tuple(PlannedShare(boards=(board.name,), part=part, layers=problem.numbers)
                     for board, part in zip(boards, parts, strict=True)))


def _share_graph(whole: Statistics, parts: Sequence[float]) -> tuple[list[Statistics], list[int]]:
    """Each board's part of a graph, and how many vertices of others it reads.

    Of equal parts, these are known if the graph was divided among so many boards.
    """
    count = len(parts)
    if math.isclose(max(parts), min(parts), rel_tol=1e-6):
        owns, halos = whole.parts(count), whole.halos(count)
        return owns * (count // len(owns)), halos * (count // len(halos))
    # A part's edges that leave it are about as many as it has, times the share of the others.
    halo = whole.halo(count)
    return [whole.part(1 / part) for part in parts], [
        round(halo * part * (1 - part) * count**2 / (count - 1)) for part in parts]


EXACT_STRATEGY = parts_strategy(_EXACT_NAME, PART, partial(evaluated_parts, hidden=False),
                                plans=exact, counts=part_counts)
STALE_STRATEGY = parts_strategy(_STALE_NAME, PART, partial(evaluated_parts, hidden=True),
                                plans=stale, counts=part_counts)
