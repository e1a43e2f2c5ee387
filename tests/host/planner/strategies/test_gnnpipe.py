# SPDX-License-Identifier: BSD-2-Clause
"""Chunks of a whole graph through layers, as the planner has them."""

from dataclasses import replace

from hypercast.host.cluster.description import load_cluster
from hypercast.host.planner.pipelines import BoardStage, evaluate
from hypercast.host.planner.plan import ANYTHING, REFERENCES, Plan
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.statistics import Statistics
from hypercast.host.planner.strategies import gnnpipe
from hypercast.reference.network import Network


def problem(vertices, layers=4, sampled=False, **chip):
    cluster = load_cluster("vcu128-4")
    cluster = replace(cluster, boards=tuple(
        replace(board, config=board.config.replace(**chip)) for board in cluster.boards))
    statistics = Statistics(vertices=(vertices,) * (layers + 1), edges=(vertices * 8,) * layers,
                            sampled=sampled)
    return Problem.of_network(cluster, Network.of_widths([32] * (layers + 1)), statistics)


def test_boards_work_on_different_chunks_at_the_same_time():
    training = problem(20000)
    [plan] = gnnpipe.plans(training)
    assert isinstance(plan, Plan)
    assert plan.trains == ANYTHING and not plan.exact
    assert plan.units > 1 and plan.schedule == "GPipe"
    boards = {board.name: board for board in training.boards}
    stages = [BoardStage(tuple(layer - 1 for layer in share.layers), (boards[share.boards[0]],))
              for share in plan.shares]
    whole = evaluate(training, gnnpipe.DISCIPLINE, stages, "GPipe", chunks=1)
    assert plan.seconds < 0.7 * whole.seconds


def test_chips_need_room_for_the_program_of_the_whole_graph():
    plan, slower = gnnpipe.plans(problem(3_000_000, program_rows=128, aggregation_rows=0))
    assert plan.units > 1 and plan.trains == REFERENCES
    assert len(slower.boards) > len(plan.boards) and slower.trains == ANYTHING
    [plan] = gnnpipe.plans(problem(3_000_000))  # a graph's size makes no program too long
    assert plan.trains == ANYTHING


def test_there_are_no_more_chunks_than_vertices():
    [plan] = gnnpipe.plans(problem(3))
    assert plan.units == 2
    [refusal] = gnnpipe.plans(problem(1))
    assert "no run of layers" in refusal.reason


def test_samples_have_no_chunks():
    [refusal] = gnnpipe.plans(problem(500, sampled=True))
    assert "leave --sampler out" in refusal.reason
