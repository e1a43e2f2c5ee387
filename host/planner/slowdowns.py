# SPDX-License-Identifier: BSD-2-Clause
"""Tables of boards that are too small for faster programs of a plan."""

from collections.abc import Iterator

from hypercast.host.compiler.memory_map import remedy
from hypercast.host.cycle_model.prediction import find_slowdown
from hypercast.host.cycle_model.workload import Workload
from hypercast.host.planner.operators import IN_FILE
from hypercast.host.planner.plan import Plan
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.strategies.vertex_cut import VERTEX_CUT

__all__ = ["find_slowdowns"]


def find_slowdowns(plan: Plan, problem: Problem) -> list[str]:
    """What boards would be faster with more of, and the remedy: a line for each kind of board.

    Of samples there is none: their lists never name rows.
    """
    return [] if problem.statistics.sampled else [*dict.fromkeys(_slowdowns(plan, problem))]


def _slowdowns(plan: Plan, problem: Problem) -> Iterator[str]:
    layers = (problem.split(plan.split) if plan.split else problem).layers
    boards = {board.name: board for board in problem.boards}
    statistics = problem.statistics
    for share in plan.shares:
        part = statistics.part(1 / share.part if share.part else plan.units)
        vertices, edges = statistics.cut(len(plan.boards)) if plan.scheme == VERTEX_CUT else (
            part.vertices[0], part.edges[0])
        for name in share.boards:
            board = boards[name]
            workload = Workload.of_whole_graph(
                vertices, edges, layers[share.layers[0] - 1].network, board.config,
                law=statistics.law)
            if found := find_slowdown(workload):
                yield (f"{board.kind}: {found.field} is {getattr(board.config, found.field)}, but "
                       f"a step would be faster with {found.needed}; "
                       f"{remedy(board.config, found.field, found.needed, IN_FILE)}")
