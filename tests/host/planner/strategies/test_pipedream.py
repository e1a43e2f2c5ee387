# SPDX-License-Identifier: BSD-2-Clause
"""PipeDream's programme finds the best of all runs of layers and numbers of boards."""

import itertools
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.description.conversion import DescriptionError
from hypercast.host.planner.operators import Footprint
from hypercast.host.planner.pipelines import BoardStage, evaluate, reduced_seconds
from hypercast.host.planner.plan import ANYTHING, EXACT, NOT_YET, Plan, Refusal
from hypercast.host.planner.plan_file import plan_of_sections, plan_text
from hypercast.host.planner.problem import Problem
from hypercast.host.planner.statistics import Statistics
from hypercast.host.planner.strategies import pipedream, samples
from hypercast.host.planner.strategies.equal_layers import equal_stages
from hypercast.host.planner.strategy import GivenPlan, GivenShare
from hypercast.host.training.planning import assignment_of
from hypercast.reference.network import Network
from tests.host.planner.problems import cluster, problem


def slowest(stages, times):
    return max(sum(times[layer] for layer in layers) / boards for layers, boards in stages)


@given(st.lists(st.integers(1, 9), min_size=2, max_size=5), st.integers(2, 4))
def test_no_other_stages_have_a_smaller_bottleneck(times, count):
    training = problem(times, cluster(*[1] * count), micro_batches=12)
    plan = next(pipedream.plans(training))
    found = slowest([([layer - 1 for layer in share.layers], len(share.boards))
                     for share in plan.shares], times)
    best = min(
        slowest([(range(*pair), boards) for pair, boards in zip(
            itertools.pairwise([0, *cuts, len(times)]), sizes, strict=True)], times)
        for depth in range(1, len(times) + 1)
        for cuts in itertools.combinations(range(1, len(times)), depth - 1)
        for sizes in itertools.product(range(1, count + 1), repeat=depth) if sum(sizes) <= count)
    assert found == pytest.approx(best)
    assert sum(len(share.boards) for share in plan.shares) <= count


def test_sums_of_gradients_count():
    # 8,000,000 bytes a second: a ring of two boards takes 2 s for a million weights.
    slow = cluster(1, 1, gigabits=0.064)
    [plan] = pipedream.plans(problem([4, 4], slow, weights=1_000_000, micro_batches=8))
    assert [len(share.boards) for share in plan.shares] == [1, 1]
    [plan] = pipedream.plans(problem([1, 7], cluster(1, 1), micro_batches=8))
    assert [len(share.boards) for share in plan.shares] == [2]


def test_stages_of_one_board_each_can_be_trained():
    several, single = pipedream.plans(problem([4, 12], cluster(1, 1, 1, 1), micro_batches=8,
                                              weights=1000))
    assert [len(share.boards) for share in several.shares] == [1, 3]
    assert [len(share.boards) for share in single.shares] == [1, 1]
    assert (several.trains, single.trains) == (NOT_YET, ANYTHING)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(2, 6), st.integers(2, 9))
def test_a_single_stage_is_samples_in_parallel(times, count, micro_batches):
    """Boards of that stage take micro-batches in turn, and nothing is older."""
    boards = cluster(*[1] * count)
    training = problem(times, boards, micro_batches=micro_batches, weights=1)
    plan, *trained = pipedream.plans(training)
    assert [one.trains for one in trained] in ([], [ANYTHING])
    widths = [len(share.boards) for share in plan.shares]
    assert max(widths) <= micro_batches
    assert plan.seconds > 0
    if len(widths) > 1:
        assert plan.staleness != EXACT
        return
    beside = samples.evaluated_samples(training, training.fastest[:widths[0]])
    assert (plan.staleness, plan.trains) == (EXACT, ANYTHING)
    assert plan.seconds == pytest.approx(beside.seconds)
    assert plan.memory == beside.memory
    assert plan.traffic == beside.traffic
    assert assignment_of(plan).micro_batches == assignment_of(beside).micro_batches
    again = plan_of_sections(tomllib.loads(plan_text(training, plan)), training)
    assert (again.shares, again.seconds) == (plan.shares, plan.seconds)


def test_one_layer_is_a_single_stage():
    [plan] = pipedream.plans(problem([3], cluster(1, 1, 1), micro_batches=9))
    assert plan.scheme == "samples in parallel"
    assert plan.seconds == pytest.approx(9)
    [refusal] = pipedream.plans(problem([3, 3], cluster(1), micro_batches=9))
    assert refusal.reason == "there is one board only"


def test_sums_that_take_too_long_leave_one_board():
    slow = cluster(1, 1, gigabits=1e-6)
    [plan] = pipedream.plans(problem([4, 4], slow, weights=10**6, output=10**7, micro_batches=8))
    assert plan.boards == ("b0-0",)
    assert (plan.staleness, plan.trains, plan.seconds) == (EXACT, ANYTHING, pytest.approx(64))


def test_a_step_takes_the_same_however_many_it_shares_its_pipeline_with():
    """Few micro-batches in many stages: the first steps only fill the pipeline."""
    training = problem([1] * 6, cluster(*[1] * 6), micro_batches=2)
    plan = evaluate(training, pipedream.DISCIPLINE, equal_stages(training, training.boards), "SNO")
    assert plan.seconds == pytest.approx(2)


def test_a_stage_has_no_more_boards_than_micro_batches():
    training = problem([1, 2], cluster(1, 1, 1), micro_batches=2)
    one = evaluate(training, pipedream.DISCIPLINE, [BoardStage((0, 1), training.boards)], "SNO")
    with pytest.raises(DescriptionError, match=r"\[shares.1\] boards has 3, but they take 2 micro"):
        plan_of_sections(tomllib.loads(plan_text(training, one)), training)


def test_two_versions_need_a_micro_batch_for_each_board():
    boards = cluster(1, 1, 1, 1)
    few = problem([1] * 4, boards, micro_batches=3)
    [plan] = pipedream.plans_2bw(few)
    assert len(plan.boards) in (2, 3)
    four = evaluate(few, pipedream.TWO_VERSIONS, equal_stages(few, few.boards), "SNO")
    with pytest.raises(DescriptionError, match="needs as many micro-batches as boards, 4, not 3"):
        plan_of_sections(tomllib.loads(plan_text(few, four)), few)
    plan = next(pipedream.plans_2bw(problem([1] * 4, boards, micro_batches=8)))
    assert isinstance(plan, Plan)
    assert plan.staleness == "weights, 1 step"
    # Without a flush, a step takes what its micro-batches take: none fills the pipeline anew.
    assert plan.seconds == pytest.approx(8)


@pytest.mark.parametrize("strategy", [pipedream.STRATEGY, pipedream.TWO_VERSIONS_STRATEGY])
@pytest.mark.parametrize("micro_batches", [1, 2, 3])
def test_two_versions_need_as_many_micro_batches_as_boards(strategy, micro_batches):
    """So that a step's updates are there for the step after the next; stashes need none."""
    training = problem([3, 5], cluster(1, 1), micro_batches=micro_batches)
    given = GivenPlan("1F1B", micro_batches, tuple(
        GivenShare(f"shares.{number}", (board,), (number,), None)
        for number, board in enumerate(training.boards, 1)))
    if strategy is pipedream.TWO_VERSIONS_STRATEGY and micro_batches < 2:
        with pytest.raises(DescriptionError, match="needs as many micro-batches as boards, 2, not "
                                                   "1; ") as error:
            strategy.evaluate(training, given)
        assert error.value.section == "shares"
    else:
        plan = strategy.evaluate(training, given)
        assert isinstance(plan, Plan) and plan.strategy == strategy.name
        assert [share.layers for share in plan.shares] == [(1,), (2,)]


def test_why_there_are_no_two_versions():
    """What is in the way of the last stages that were tried."""
    training = problem([1, 1], cluster(1, 1, weight_rows=16), footprint=Footprint(weight_rows=17))
    [refusal] = pipedream.plans_2bw(training)
    assert isinstance(refusal, Refusal)
    assert refusal.reason.startswith("b0-0 (u50) has a weight bank of 16 rows")
    assert refusal.strategy == pipedream.TWO_VERSIONS.strategy
    [alone] = pipedream.plans_2bw(problem([1, 1], cluster(1)))
    assert alone.reason == "there is one board only"


@pytest.mark.parametrize(("output", "depth"), [(3900, 2), (4100, 1)])
def test_results_cross_there_and_back(output, depth):
    """Two stages of 4 s, if their link takes less than the 8 s of one; 1000 bytes take a second."""
    training = problem([4, 4], cluster(1, 1, gigabits=8e-6), output=output, weights=10**6,
                       micro_batches=8)
    assert [len(stage.boards) for stage in pipedream._partition(training, 2)] == [1] * depth


@pytest.mark.parametrize("megahertz", [(1, 2), (2, 1)])
def test_all_boards_are_taken_for_the_slowest(megahertz):
    """On which 8 s are more than the 6 s of the link; on the other they would be 4."""
    training = problem([4, 4], cluster(*megahertz, gigabits=8e-6), output=3000, weights=10**6,
                       micro_batches=8)
    assert len(pipedream._partition(training, 2)) == 2


@pytest.mark.parametrize(("weights", "depth"), [(40, 1), (150, 2), (200, 2)])
def test_weights_of_all_layers_of_a_stage_are_added_up(weights, depth):
    """Two boards take half of 8 s and of what sums take; two stages, 5 s for what crosses."""
    training = problem([4, 4], cluster(1, 1, gigabits=8e-6), output=2500, weights=weights,
                       micro_batches=8)
    added = reduced_seconds(training, training.boards, 2 * weights)
    assert ((8 + added) / 2 > 5) == (depth == 2)
    assert len(pipedream._partition(training, 2)) == depth


def test_two_boards_of_a_stage_are_not_trained_either():
    several, single = pipedream.plans(problem([4, 8], cluster(1, 1, 1), micro_batches=8,
                                              weights=1000))
    assert [len(share.boards) for share in several.shares] == [1, 2]
    assert [len(share.boards) for share in single.shares] == [1, 1]


@pytest.mark.parametrize("plans", [pipedream.plans, pipedream.plans_2bw])
def test_what_has_no_older_weights(plans):
    [one] = plans(problem([1, 1], cluster(1, 1), micro_batches=1))
    assert one.reason == ("a step has one micro-batch, so that there is nothing to overlap; raise "
                          "--micro-batches")
    network = Network.of_widths([4, 4, 4])
    [whole] = plans(Problem.of_network(cluster(1, 1), network, Statistics.whole(9, 9, 2)))
    assert whole.reason.endswith("; train on samples, with --micro-batches")
    [two] = plans(problem([1, 1], cluster(1, 1), micro_batches=2))
    assert isinstance(two, Plan)


def test_layers_that_no_board_has_room_for():
    [long] = pipedream.plans(problem([1, 1], cluster(1, 1, program_rows=16)))
    assert long.strategy == "PipeDream" and "rows of program memory" in long.reason
    assert long.reason.startswith("no run of layers fits one of the boards")
    [large] = pipedream.plans(problem([1, 1], cluster(1, 1, weight_rows=16), footprint=Footprint(
        weight_rows=17)))
    assert large.strategy == "PipeDream"
    assert large.reason.startswith("b0-0 (u50) has a weight bank of 16 rows")
