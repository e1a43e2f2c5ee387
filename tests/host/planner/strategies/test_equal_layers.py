# SPDX-License-Identifier: BSD-2-Clause
"""As many layers on each board: all forward first, or one board at work at a time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.planner.operators import Footprint
from hypercast.host.planner.pipelines import BoardStage, agreed_seconds
from hypercast.host.planner.strategies import bapipe
from hypercast.host.planner.strategies.equal_layers import (
    GPIPE,
    equal_stages,
    gpipe,
    obstacle,
    one_by_one,
)
from tests.host.planner.problems import cluster, problem


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 3))
def test_layers_are_dealt_evenly(layers, groups, width):
    """Each in one stage, in order; give or take one; each stage has boards of its own."""
    training = problem([1] * layers, cluster(*[1] * (groups * width)))
    stages = equal_stages(training, training.boards, width)
    assert [layer for stage in stages for layer in stage.layers] == list(range(layers))
    sizes = [len(stage.layers) for stage in stages]
    assert max(sizes) - min(sizes) <= 1 and len(sizes) == groups
    assert [board for stage in stages for board in stage.boards] == list(training.boards)
    assert {len(stage.boards) for stage in stages} == {width}


def test_all_forward_then_all_backward():
    """Four micro-batches of 4 seconds a stage; the second board is no use."""
    training = problem([4, 4], cluster(1, 1))
    [plan] = gpipe(training)
    assert (plan.strategy, plan.schedule) == ("GPipe, equal layers", "GPipe")
    agreed = agreed_seconds(training, training.boards)
    assert plan.seconds == pytest.approx(5 * 4 + agreed)
    assert [share.in_flight for share in plan.shares] == [4, 4]


def test_one_board_at_work_at_a_time():
    training = problem([4, 4], cluster(1, 1))
    [plan] = one_by_one(training)
    assert (plan.strategy, plan.schedule) == ("layers one after another", "SNO")
    assert plan.seconds == pytest.approx(4 * 8 + agreed_seconds(training, training.boards))
    assert [share.in_flight for share in plan.shares] == [1, 1]


def test_as_many_boards_as_are_best():
    slow = cluster(3, 3, 1, gigabits=1)
    [plan] = gpipe(problem([4] * 3, slow))
    assert plan.boards == ("b0-0", "b1-0")
    [plan] = gpipe(problem([4] * 3, cluster(3, 3, 3)))
    assert len(plan.boards) == 3


@pytest.mark.parametrize("strategy", [gpipe, one_by_one])
def test_why_there_is_none(strategy):
    [one] = strategy(problem([1, 1], cluster(1)))
    assert one.reason == "there is one board only"
    [small] = strategy(problem([1, 1], cluster(1, 1, weight_rows=16), footprint=Footprint(
        weight_rows=17)))
    assert small.reason.startswith("b0-0 (u50) has a weight bank of 16 rows")
    [most] = strategy(problem([1] * 3, cluster(1, 1, 1, weight_rows=16), footprint=Footprint(
        weight_rows=17)))  # the reason of as many boards as there are
    assert "are needed for layer 1; " in most.reason


def test_what_stands_in_the_way():
    training = problem([1, 1], cluster(1, 1, 1, weight_rows=16), micro_batches=1,
                       footprint=Footprint(weight_rows=17))
    text = obstacle(training, GPIPE, "SNO")
    assert text.startswith("no run of layers fits one of the boards, however they are dealt; b0-0 "
                           "(u50) has a weight bank of 16 rows, but 17 are needed for layer 1; ")
    assert obstacle(problem([1], cluster(1)), GPIPE, "SNO").endswith("however they are dealt")
    assert [stage for stage in equal_stages(training, training.boards[:2])] == [
        BoardStage((0,), training.boards[:1]), BoardStage((1,), training.boards[1:2])]
    [refusal] = bapipe.plans(training)
    assert refusal.strategy == "BaPipe" and "weight bank of 16 rows" in refusal.reason
