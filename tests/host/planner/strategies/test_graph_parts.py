# SPDX-License-Identifier: BSD-2-Clause
"""Parts of a graph as the planner sees them."""

import pytest

from hypercast.host.cluster.description import Cluster, load_cluster
from hypercast.host.planner.operators import Footprint
from hypercast.host.planner.pipelines import agreed_seconds, reduced_seconds
from hypercast.host.planner.plan import EXACT, Plan
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.statistics import Part, Statistics
from hypercast.host.planner.strategies import graph_parts
from hypercast.host.planner.strategies.graph_parts import (
    evaluated_parts,
    exact,
    part_counts,
    stale,
)
from hypercast.reference.network import Network


def problem(name):
    return Problem.of_network(load_cluster(name), Network.of_widths((64, 32, 8)), Statistics.whole(
        20_000, 200_000, 2))


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


def joined(gigabits, *, count=4, **settings):
    """Boards whose links are as slow as one likes."""
    return Cluster.of_sections({
        "boards": {"one": {"board": "vcu128", "count": count, "host_gigabits": gigabits,
                           "host_microseconds": 3, **settings}},
        "links": {"network": {"gigabits": gigabits, "microseconds": 5}}})


#: What was divided among four: vertices, edges, and vertices of others that are read.
PARTS = (Part(5000, 40_000, 900), Part(6000, 50_000, 700), Part(5000, 60_000, 400),
         Part(4000, 50_000, 800))
DIVIDED = Statistics.whole(20_000, 200_000, 2, (PARTS,))


def divided(gigabits, **settings):
    return Problem.of_network(joined(gigabits, **settings), Network.of_widths((64, 32, 8)), DIVIDED)


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("transfers", ["results", "waiting"])
@pytest.mark.parametrize("gigabits", [1e-3, 1000])
def test_seconds_of_a_step(hidden, transfers, gigabits):
    """Stale rows cross while boards compute, if boards do not wait; else one comes after another.

    Rows of others that cores send take cycles of their own.
    """
    training = divided(gigabits, transfers=transfers)
    boards = training.boards
    config, clock = boards[0].config, boards[0].clock
    plan = evaluated_parts(training, boards, hidden=hidden)
    costs = [[one.on(boards[0]) for one in training.operators(part).operators]
             for part in DIVIDED.parts(4)]
    panels = sum(-(-columns // config.lanes) for columns in training.sent_columns)
    sending = [panels * part.halo / config.cores / clock for part in PARTS]
    if hidden:
        computing = max(sum(one.seconds for one in own) + more
                        for own, more in zip(costs, sending, strict=True))
    else:
        computing = max(sending) + sum(
            max(getattr(own[layer], way) for own in costs)
            for layer in (0, 1) for way in ("forward", "backward"))
    computing += reduced_seconds(training, boards, training.weights) + agreed_seconds(
        training, boards)
    row = sum(training.exchanges) * config.element_width // 8
    route = training.cluster.route(*boards[:2])
    passing = 900 * row / route.bandwidth
    assert plan.seconds == pytest.approx(
        max(computing, passing) if hidden and transfers == "results"
        else computing + passing + len(training.exchanges) * route.latency)
    assert (plan.strategy, plan.staleness, plan.assignment.smoothing) == (
        ("PipeGCN", "halos, 1 epoch", 0.0) if hidden else ("graph in parallel", EXACT, None))
    assert plan.scheme == "graph in parallel" and plan.shares[1].part == 0.25
    assert plan.traffic == 2800 * row + 16 * 3 * training.weights


@pytest.mark.parametrize("hidden", [False, True])
def test_room_of_parts(hidden):
    """Rows of others of the largest exchange; or of all of them, which are kept for a step."""
    training = divided(100)
    memory = evaluated_parts(training, training.boards, hidden=hidden).memory
    for board, part, own in zip(training.boards, PARTS, DIVIDED.parts(4), strict=True):
        need = training.lists((0, 1), board, own, part.halo)
        for one in training.operators(own).operators:
            cost = one.on(board)
            need += cost.resident + cost.kept + cost.working
        columns = sum(training.exchanges) if hidden else max(training.exchanges)
        need += Footprint(features=-(-columns // board.config.lanes)
                          * -(-part.halo // board.config.cores))
        assert memory[board.name] == need.bytes_on(board)


def test_what_parts_of_any_size_read():
    """Each of two equal halves reads half of the halo that both read; a whole reads nothing."""
    owns, halos = graph_parts._share_graph(DIVIDED, [0.25] * 4)
    assert owns == DIVIDED.parts(4) and halos == [900, 700, 400, 800]
    parts = [0.4, 0.3, 0.2, 0.1]
    owns, halos = graph_parts._share_graph(DIVIDED, parts)
    assert [own.vertices[0] for own in owns] == [8000, 6000, 4000, 2000]
    assert halos == [round(900 * part * (1 - part) * 16 / 3) for part in parts]
    plain = Statistics.whole(20_000, 200_000, 2)
    assert graph_parts._share_graph(plain, [0.5, 0.5]) == (
        [plain.part(2)] * 2, [plain.halo(2)] * 2)
    unequal, almost = (graph_parts._share_graph(plain, [0.5 + more, 0.5 - more])[1][0]
                       for more in (1e-4, 1e-8))
    assert unequal == pytest.approx(almost, abs=1)


@pytest.mark.parametrize(("boards", "counts"), [
    (0, []), (1, []), (2, [2]), (3, [2, 3]), (4, [2, 4]), (7, [2, 4, 7]), (8, [2, 4, 8])])
def test_numbers_of_boards_that_are_tried(boards, counts):
    assert part_counts(boards) == counts


@pytest.mark.parametrize("strategy", [exact, stale])
def test_as_many_boards_as_have_room_and_are_best(strategy):
    """Boards that are too small for halves may have room for quarters."""
    def small(bits):
        [found] = strategy(divided(1000, channel_words=1 << bits))
        return found

    bits = next(bits for bits in range(6, 24) if isinstance(small(bits), Plan))
    assert len(small(bits).boards) == 4
    assert "are needed for one of 4 parts of the graph" in small(bits - 1).reason
    [slow] = strategy(divided(1e-4))
    [two] = strategy(Problem.of_network(joined(1e-4, count=2), Network.of_widths((64, 32, 8)),
                                        DIVIDED))
    assert slow.seconds <= two.seconds


@pytest.mark.parametrize("strategy", [exact, stale])
def test_what_has_no_parts(strategy):
    network = Network.of_widths((8, 4))
    for boards, statistics, text in (
            (joined(1), Statistics(vertices=(9, 9), edges=(9,), sampled=True),
             "steps work on samples; leave --sampler out to split the graph itself"),
            (joined(1, count=1), Statistics.whole(9, 9, 1), "there is one board only"),
            (joined(1), Statistics.whole(1, 1, 1), "there is one board only")):
        [refusal] = strategy(Problem.of_network(boards, network, statistics))
        assert refusal.reason == text
