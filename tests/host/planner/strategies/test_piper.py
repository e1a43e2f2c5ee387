# SPDX-License-Identifier: BSD-2-Clause
"""Piper finds the smallest bottleneck of all chains of stages that fit their boards."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.planner.operators import Footprint
from hypercast.host.planner.pipelines import BoardStage, evaluate
from hypercast.host.planner.plan import Plan
from hypercast.host.planner.stage_room import NONE_FIT
from hypercast.host.planner.strategies import piper
from tests.host.planner.problems import chains, cluster, problem, slowest

GRAPHS = {
    "chain": ((0, 1), (1, 2), (2, 3), (3, 4)),
    "branches": ((0, 1), (0, 2), (1, 3), (2, 3), (3, 4)),
    "skip": ((0, 1), (0, 2), (1, 2), (2, 3), (0, 3), (3, 4)),
}


def smallest(training, schedule):
    """The smallest bottleneck of all chains of stages that can be planned."""
    found = [np.inf]
    for stages in chains(training.graph, len(training.boards)):
        if 1 < len(stages) and isinstance(evaluate(training, piper.DISCIPLINE, [
               BoardStage(stage, (board,))
               for stage, board in zip(stages, training.fastest, strict=False)], schedule), Plan):
            found.append(slowest(training, stages))
    return min(found)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([*GRAPHS]), st.data())
def test_no_chain_that_fits_has_a_smaller_bottleneck(name, data):
    times = data.draw(st.lists(st.integers(1, 9), min_size=5, max_size=5))
    boards = cluster(*data.draw(st.sampled_from([(1, 1), (1, 1, 1), (2, 1, 1)])),
                     channel_words=1024, tensors=data.draw(st.sampled_from([16, 32, 128])))
    words = st.integers(0, 500)
    training = problem(times, boards, edges=GRAPHS[name], micro_batches=data.draw(
        st.integers(1, 5)), footprint=Footprint(data.draw(words), data.draw(words)))
    [found] = piper.plans(training)
    often, seldom = smallest(training, "SO"), smallest(training, "SNO")
    if often == seldom == np.inf:
        assert found.reason.startswith(NONE_FIT)
        return
    stages = [tuple(layer - 1 for layer in share.layers) for share in found.shares]
    assert slowest(training, stages) == pytest.approx(
        {"SO": often, "SNO": seldom}[found.schedule])


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([*GRAPHS]), st.data())
def test_limits_that_nothing_reaches_change_nothing(name, data):
    times = data.draw(st.lists(st.integers(1, 9), min_size=5, max_size=5))
    training = problem(times, cluster(1, 1, 1, channel_words=1024), edges=GRAPHS[name], footprint=(
        Footprint(data.draw(st.integers(0, 300)))))
    stages = piper.partition(training, behind=0)
    if isinstance(evaluate(training, piper.DISCIPLINE, [
           BoardStage(stage, (board,))
           for stage, board in zip(stages, training.fastest, strict=False)], "SO"), Plan):
        assert piper.partition(training) == stages
