# SPDX-License-Identifier: BSD-2-Clause
"""A vertex cut: shares of the edges, all done at the same time."""

from dataclasses import replace

import pytest

from hypercast.host.cluster.description import Cluster
from hypercast.host.planner.pipelines import agreed_seconds, reduced_seconds
from hypercast.host.planner.plan import ANYTHING, NOT_YET, Plan
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.statistics import Statistics
from hypercast.host.planner.strategies import vertex_cut
from hypercast.reference.network import Network

NETWORK = Network.of_widths((64, 32, 8))


def training(*megahertz, vertices=20_000, gigabits=100, **options):
    boards = Cluster.of_sections({
        "boards": {f"b{number}": {"board": "vcu128", "megahertz": one, **options}
                   for number, one in enumerate(megahertz)},
        "links": {"switch": {"gigabits": gigabits}}})
    return Problem.of_network(boards, NETWORK, Statistics.whole(
        vertices, 10 * vertices, 2, cuts=((2, vertices * 3 // 5, 6 * vertices),)))


def test_a_board_has_the_edges_of_its_share_and_their_ends():
    found = training(250, 250)
    plan = vertex_cut.evaluated_cut(found, found.boards)
    share = replace(found.statistics, vertices=(12_000,) * 3, edges=(120_000,) * 2)
    graph = found.operators(share)
    assert plan.seconds == pytest.approx(
        graph.seconds(range(2), found.boards[0])
        + reduced_seconds(found, found.boards, found.weights)
        + agreed_seconds(found, found.boards))
    assert plan.traffic == 16 * found.weights
    assert [share.part for share in plan.shares] == [0.5, 0.5]
    assert [share.layers for share in plan.shares] == [(1, 2)] * 2
    assert (plan.strategy, plan.scheme, plan.staleness, plan.trains) == (
        "CoFree-GNN", "vertex cut", "another graph", ANYTHING)
    board = found.boards[0]
    need = found.lists(range(2), board, share)
    for number in range(2):
        cost = graph.operators[number].on(board)
        need += cost.resident + cost.kept + cost.working
    assert plan.memory == dict.fromkeys(("b0-0", "b1-0"), need.bytes_on(board))


def test_faster_boards_have_more_edges():
    found = training(100, 300)
    plan = vertex_cut.evaluated_cut(found, found.boards)
    assert [share.part for share in plan.shares] == [pytest.approx(0.25), pytest.approx(0.75)]
    assert plan.trains == NOT_YET
    equal = vertex_cut.evaluated_cut(found, found.boards, [0.5, 0.5])
    assert equal.trains == ANYTHING and equal.seconds > 1.5 * plan.seconds
    assert plan.memory["b1-0"] > equal.memory["b1-0"] > plan.memory["b0-0"]
    fast, even = vertex_cut.plans(found)
    assert (fast.trains, even.trains) == (NOT_YET, ANYTHING)
    assert (fast.seconds, even.seconds) == (plan.seconds, equal.seconds)
    [alike] = vertex_cut.plans(training(100, 100))
    assert alike.trains == ANYTHING


def test_as_many_boards_as_are_best():
    [plan] = vertex_cut.plans(training(250, 250, 250, 250, vertices=200_000))
    assert len(plan.boards) == 4
    [slow] = vertex_cut.plans(training(250, 250, 250, 250, gigabits=1e-3, vertices=2000))
    assert len(slow.boards) == 2


def test_why_there_is_none():
    def refused(problem):
        [refusal] = vertex_cut.plans(problem)
        assert refusal.strategy == "CoFree-GNN"
        return refusal.reason

    assert refused(training(250)) == "there is one board only"
    sampled = training(250, 250)
    object.__setattr__(sampled.statistics, "sampled", True)
    assert refused(sampled) == ("steps work on samples; leave --sampler out to split the graph "
                                "itself")
    small = refused(training(250, 250, channel_words=1024))
    assert "that are needed for one of 2 shares of the edges" in small
    assert "one of 2 shares of the edges" in refused(training(250, 250, program_rows=16))


def test_a_larger_share_needs_more_memory():
    found = training(250, 250)
    plan = vertex_cut.evaluated_cut(found, found.boards, [0.9, 0.1])
    assert isinstance(plan, Plan)
    first, second = plan.memory.values()
    assert 5 * second < first
    assert plan.seconds > 1.6 * vertex_cut.evaluated_cut(found, found.boards).seconds
