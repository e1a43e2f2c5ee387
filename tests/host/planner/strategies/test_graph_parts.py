# SPDX-License-Identifier: BSD-2-Clause
"""Parts of a graph as the planner sees them."""

import pytest

from hypercast.host.cluster.description import load_cluster
from hypercast.host.planner.plan import Plan
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.statistics import Statistics
from hypercast.host.planner.strategies.graph_parts import evaluated_parts
from hypercast.reference.network import Network


def problem(name):
    return Problem.of_network(load_cluster(name), Network.of_widths((64, 32, 8)), Statistics.whole(
        20_000, 200_000, 2, ((4, 5_000),)))


def test_equal_parts_are_what_is_taken_for_equal_boards():
    boards = problem("vcu128-4")
    found = [evaluated_parts(boards, boards.boards, hidden=False, parts=parts)
             for parts in (None, [0.25] * 4)]
    assert all(isinstance(plan, Plan) for plan in found)
    assert found[0] == found[1]


@pytest.mark.parametrize("hidden", [False, True])
def test_a_larger_part_reads_more_rows_and_takes_longer(hidden):
    boards = problem("vcu128-4")
    even, uneven = (evaluated_parts(boards, boards.boards, hidden=hidden, parts=parts)
                    for parts in ([0.25] * 4, [0.4, 0.2, 0.2, 0.2]))
    assert uneven.seconds > even.seconds
    first, *others = uneven.memory.values()
    assert first > max(others)


def test_what_cores_send_and_what_crosses():
    """X of a layer that sums inputs first is sent to cores each step, and crosses once."""
    given = [Network.of_widths((64, 32, 8), orders=orders)
             for orders in ("combine_first", "aggregate_first")]
    found = [Problem.of_network(load_cluster("vcu128-4"), network, Statistics.whole(100, 500, 2))
             for network in given]
    assert [one.exchanges for one in found] == [[32, 32, 8, 8], [32, 32]]
    assert [one.sent_columns for one in found] == [[32, 32, 8, 8], [64, 32, 32]]
