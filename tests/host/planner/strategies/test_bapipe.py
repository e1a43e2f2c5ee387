# SPDX-License-Identifier: BSD-2-Clause
"""BaPipe: the best of all runs of layers, orders of boards and schedules."""

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.cluster.description import Cluster, load_cluster
from hypercast.host.planner.operators import Footprint
from hypercast.host.planner.pipelines import BoardStage, evaluate, schedules_for
from hypercast.host.planner.plan import ANYTHING, NOT_YET
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.statistics import Statistics
from hypercast.host.planner.strategies import bapipe
from hypercast.reference.network import Network
from tests.host.planner.problems import cluster, problem


@settings(max_examples=12)
@given(st.lists(st.integers(1, 9), min_size=2, max_size=4),
       st.lists(st.integers(1, 3), min_size=2, max_size=3), st.integers(1, 5))
def test_no_stages_with_a_smaller_bottleneck_are_faster(times, megahertz, micro_batches):
    """Among the orders of boards that are tried, and for each schedule that they can follow."""
    training = problem(times, cluster(*megahertz), micro_batches=micro_batches)
    plan = next(bapipe.plans(training))
    assert plan.seconds == min(one.seconds for one in bapipe.plans(training))
    best = []
    for count in range(2, min(len(times), len(megahertz)) + 1):
        for boards in bapipe.board_orders(training, count):
            runs = min((
                [range(*pair) for pair in itertools.pairwise([0, *cuts, len(times)])]
                for cuts in itertools.combinations(range(1, len(times)), count - 1)),
                key=lambda runs: max(training.graph.seconds(run, board) for run, board in zip(
                    runs, boards, strict=True)))
            stages = [BoardStage(tuple(run), (board,))
                      for run, board in zip(runs, boards, strict=True)]
            best += [evaluate(training, bapipe.DISCIPLINE, stages, schedule).seconds
                     for schedule in schedules_for(stages)]
    # Of several divisions with the same bottleneck, any may have been taken.
    assert plan.seconds <= min(best) * 1.35 and plan.strategy == "BaPipe"


def test_boards_come_in_a_few_orders():
    training = problem([1] * 4, cluster(2, 4, 1, 3))
    names = [[board.name[1] for board in order] for order in bapipe.board_orders(training, 3)]
    assert names == [["1", "3", "0"], ["0", "3", "1"], ["0", "1", "3"]]
    alike = problem([1] * 3, cluster(1, 1, 1))
    assert len(bapipe.board_orders(alike, 2)) == 1


@pytest.mark.parametrize(("layers", "boards"), [(2, 4), (4, 2), (3, 3), (4, 3)])
def test_pipelines_have_two_boards_or_more_and_a_layer_on_each(layers, boards, monkeypatch):
    """Though one board would be done sooner, without transfers."""
    orders, tried = bapipe.board_orders, set()
    monkeypatch.setattr(bapipe, "board_orders", lambda training, count: (
        tried.add(count) or orders(training, count)))
    plan = next(bapipe.plans(problem([1] * layers, cluster(*[1] * boards, gigabits=1),
                                     micro_batches=1, output=10**6)))
    assert tried == {*range(2, min(layers, boards) + 1)} and len(plan.boards) >= 2


def test_boards_that_are_too_slow_are_left_out():
    plan = next(bapipe.plans(problem([4] * 4, cluster(9, 9, 1), micro_batches=8)))
    assert set(plan.boards) == {"b0-0", "b1-0"}


def test_a_layer_that_is_too_much_for_its_board_is_split():
    """The first of three layers takes nearly all the time."""
    network = Network.of_widths([448, 448, 16, 4])
    training = Problem.of_network(load_cluster("vcu128-4"), network, Statistics(
        vertices=(4000,) * 4, edges=(20_000,) * 3, sampled=True), micro_batches=16)
    split, whole = bapipe.plans(training)
    assert split.seconds < whole.seconds
    assert (split.trains, whole.trains) == (NOT_YET, ANYTHING)
    assert whole.split == () and split.split[0] > 1 == split.split[-1]
    assert max(layer for share in split.shares for layer in share.layers) == sum(split.split)
    share = 1 / 4 / 2
    for number, count in enumerate(split.split):
        part = training.graph.seconds([number], training.boards[0]) / training.graph.seconds(
            range(3), training.boards[0])
        assert count == min(training.splittable[number], -(-part // share))


@pytest.mark.parametrize("edges", [20_000, 200_000])
def test_pieces_take_the_fastest_board_half_of_its_share(edges):
    """Or less, of the time that all boards take together; not more pieces than needed for that."""
    network = Network.of_widths([448, 448, 16, 4])
    for slow in range(1, 10):
        training = Problem.of_network(Cluster.of_sections({
            "boards": {"slow": {"board": "u50", "count": slow}, "fast": {"board": "vcu128"}},
            "links": {"switch": {"gigabits": 100}}}), network, Statistics(
            vertices=(4000,) * 4, edges=(edges,) * 3, sampled=True), micro_batches=16)
        half = 1 / 2 / sum(1 / training.graph.seconds(range(3), board)
                           for board in training.boards)
        alone = [training.graph.seconds([number], training.fastest[0]) for number in range(3)]
        assert training.fastest[0].name == "fast-0"
        assert bapipe._worth_splitting(training) == tuple(
            min(most, math.ceil(seconds / half))
            for seconds, most in zip(alone, training.splittable, strict=True))


def test_one_board_is_no_pipeline():
    [refusal] = bapipe.plans(problem([1, 1], cluster(1)))
    assert refusal.reason == "there is one board only"


@pytest.mark.parametrize("count", [1, 6])
def test_schedules_are_compared(count):
    """With two engines, a board goes both ways at once; it needs more steps to be filled."""
    plan = next(bapipe.plans(problem([3, 3], cluster(1, 1, transfers="rows"),
                                     micro_batches=count)))
    others = [evaluate(problem([3, 3], cluster(1, 1, transfers="rows"), micro_batches=count),
                       bapipe.DISCIPLINE, [BoardStage((number,), (board,)) for number, board in
                                           enumerate(cluster(1, 1, transfers="rows").boards)],
                       schedule).seconds for schedule in ("1F1B", "FBP", "SNO", "SO")]
    assert plan.seconds == pytest.approx(min(others))


def test_more_boards_are_taken_if_they_are_faster():
    """Though fewer are tried first."""
    plan = next(bapipe.plans(problem([4] * 3, cluster(1, 1, 1), micro_batches=8)))
    assert len(plan.boards) == 3
    one = next(bapipe.plans(problem([4] * 3, cluster(1, 1, 1), micro_batches=1)))
    assert one.seconds > plan.seconds / 8


def test_layers_that_fit_no_board():
    large = Footprint(weight_rows=1 << 20)
    [refused] = bapipe.plans(problem([1, 2, 3], cluster(1, 1), footprint=large))
    assert refused.strategy == "BaPipe"
    assert "has a weight bank of" in refused.reason
