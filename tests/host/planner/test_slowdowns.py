# SPDX-License-Identifier: BSD-2-Clause
"""Boards of a plan whose row table is too small for lists that name rows."""

from dataclasses import replace

import pytest

from hypercast.host.planner.problem import Problem
from hypercast.host.planner.search import search
from hypercast.host.planner.slowdowns import find_slowdowns
from hypercast.host.planner.statistics import Statistics
from hypercast.reference.network import Network
from tests.host.planner.problems import cluster

NETWORK = Network.of_widths([16, 8, 4])


def planned(strategy, vertices=40_000, **board):
    """A problem of two boards, and the plan that a strategy finds for it."""
    boards = cluster(100, 100, accumulator_rows=64, aggregation_rows=0, **board)
    problem = Problem.of_network(boards, NETWORK, Statistics.whole(vertices, 2 * vertices, 2))
    return problem, next(one for one in search(problem).plans if one.strategy == strategy)


@pytest.mark.parametrize("strategy", ["one board", "graph in parallel", "BaPipe"])
def test_a_row_table_that_is_too_small_is_named_with_a_remedy(strategy):
    """With as many entries as it says, there is nothing to say, and the step is faster."""
    problem, plan = planned(strategy, row_counts=16)
    [line] = find_slowdowns(plan, problem)
    assert line.startswith("u50: row_counts is 16, but a step would be faster with ")
    enough = int(line.split("raise row_counts to ")[1].split()[0])
    assert f"(in the cluster's file: row_counts={enough})" in line
    problem, faster = planned(strategy, row_counts=enough)
    assert find_slowdowns(faster, problem) == []
    assert faster.seconds < plan.seconds


def test_parts_of_a_graph_need_less():
    """Each has half of the strips."""
    problem, plan = planned("graph in parallel", vertices=24_000, row_counts=16)
    [line] = find_slowdowns(plan, problem)
    [whole] = find_slowdowns(planned("one board", vertices=24_000, row_counts=16)[1], problem)
    assert int(line.split("with ")[1].split(";")[0]) < int(whole.split("with ")[1].split(";")[0])


def test_parts_of_a_vertex_cut_have_more_vertices_than_their_share():
    """Vertices at both sides of the cut are on several boards, so there are more strips."""
    entries = []
    for strategy in ("CoFree-GNN", "graph in parallel"):
        problem, plan = planned(strategy, row_counts=16)
        [line] = find_slowdowns(plan, problem)
        entries.append(int(line.split("with ")[1].split(";")[0]))
    assert entries[0] > entries[1]


def test_chunks_need_less():
    """Each has a few strips of rows."""
    problem, plan = planned("GNNPipe", row_counts=16)
    assert plan.units == 16 and not find_slowdowns(plan, problem)


def test_samples_name_no_rows():
    problem, plan = planned("one board", row_counts=16)
    sampled = replace(problem, statistics=replace(problem.statistics, sampled=True))
    assert find_slowdowns(plan, problem) and not find_slowdowns(plan, sampled)
