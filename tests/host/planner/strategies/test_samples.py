# SPDX-License-Identifier: BSD-2-Clause
"""Samples in parallel: micro-batches go to boards that are done first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.planner.operators import Footprint
from hypercast.host.planner.pipelines import agreed_seconds, reduced_seconds
from hypercast.host.planner.plan import ANYTHING, EXACT, Plan, PlannedShare
from hypercast.host.planner.strategies import samples
from tests.host.planner.problems import cluster, problem


def counts_of(plan):
    return [share.micro_batches for share in plan.shares]


@given(st.lists(st.integers(1, 5), min_size=2, max_size=4), st.integers(1, 12))
def test_no_other_deal_is_done_earlier(megahertz, micro_batches):
    """The last to be done would not be done earlier if it gave one micro-batch to another."""
    training = problem([6], cluster(*megahertz), micro_batches=micro_batches)
    plan = samples.evaluated_samples(training, training.boards)
    counts, each = counts_of(plan), [6 / one for one in megahertz]
    assert sum(counts) == micro_batches
    last = max(count * one for count, one in zip(counts, each, strict=True))
    assert all((count + 1) * one >= last - 1e-9 for count, one in zip(counts, each, strict=True))
    assert plan.seconds == pytest.approx(last + agreed_seconds(training, training.boards))


def test_what_a_plan_says():
    training = problem([2, 4], cluster(1, 3, gigabits=1e-3), micro_batches=8, weights=500)
    plan = samples.evaluated_samples(training, training.boards)
    assert plan.shares == (
        PlannedShare(boards=("b0-0",), layers=(1, 2), micro_batches=2),
        PlannedShare(boards=("b1-0",), layers=(1, 2), micro_batches=6))
    assert (plan.strategy, plan.scheme, plan.units, plan.trains, plan.staleness) == (
        "samples in parallel", "samples in parallel", 8, ANYTHING, EXACT)
    assert plan.traffic == 16 * 1000
    summing = reduced_seconds(training, training.boards, 1000) + agreed_seconds(
        training, training.boards)
    assert plan.seconds == pytest.approx(12 + summing) and summing > 1e-3
    other = samples.evaluated_samples(training, training.boards, [4, 4])
    assert counts_of(other) == [4, 4] and other.seconds == pytest.approx(24 + summing)


def test_the_last_step_of_an_epoch_has_fewer():
    """An epoch of 8 and 3 samples on equal boards: 4 and 2 in turn."""
    training = problem([3], cluster(1, 1), micro_batches=8)
    object.__setattr__(training, "samples", 11)
    plan = samples.evaluated_samples(training, training.boards)
    assert plan.seconds == pytest.approx(
        (4 * 3 + 2 * 3) / 2 + agreed_seconds(training, training.boards))


def test_no_more_boards_than_are_of_use():
    def boards(megahertz, micro_batches, **options):
        [plan] = samples.plans(problem([4], cluster(*megahertz), micro_batches=micro_batches,
                                       **options))
        return plan.boards

    assert boards((1, 1, 1), 2) == ("b0-0", "b1-0")
    assert len(boards((1, 1, 1), 3)) == 3
    assert boards((1, 9, 9), 2) == ("b1-0", "b2-0")
    [plan] = samples.plans(problem([4] * 2, cluster(1, 1, 1, gigabits=1e-6), micro_batches=6,
                                   weights=50_000))
    assert len(plan.boards) == 2  # the sums of three take longer than what is gained


@pytest.mark.parametrize(("micro_batches", "megahertz", "sampled", "text"), [
    (1, (1, 1), True, "a step has one sample; raise --micro-batches"),
    (4, (1,), True, "there is one board only"),
    (1, (1, 1), False, "there are no samples: every step works on the whole graph; give --sampler"),
])
def test_why_there_is_none(micro_batches, megahertz, sampled, text):
    training = problem([1], cluster(*megahertz), micro_batches=micro_batches)
    object.__setattr__(training.statistics, "sampled", sampled)
    [refusal] = samples.plans(training)
    assert (refusal.strategy, refusal.reason) == ("samples in parallel", text)


def test_boards_without_room_for_the_whole_model():
    training = problem([1, 1], cluster(1, 1, weight_rows=16), footprint=Footprint(weight_rows=9))
    [refusal] = samples.plans(training)
    assert "has a weight bank of 16 rows, but 18 are needed for the whole model" in refusal.reason
    short = problem([1, 1], cluster(1, 1, program_rows=16))
    [refusal] = samples.plans(short)
    assert "rows of program memory" in refusal.reason and "the whole model" in refusal.reason
    fits = samples.evaluated_samples(problem([1, 1], cluster(1, 1), footprint=Footprint(
        features=7, gradients=5)), problem([1, 1], cluster(1, 1)).boards)
    assert isinstance(fits, Plan)
    config = cluster(1).boards[0].config
    assert set(fits.memory.values()) == {(2 * 12) * config.cores * config.word_width // 8}
