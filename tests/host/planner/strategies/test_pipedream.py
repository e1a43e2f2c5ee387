"""PipeDream's programme finds the best of all runs of layers and numbers of boards."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.planner.plan import Plan
from hypercast.host.planner.strategies import pipedream
from tests.host.planner.problems import cluster, problem


def slowest(stages, times):
    return max(sum(times[layer] for layer in layers) / boards for layers, boards in stages)


@given(st.lists(st.integers(1, 9), min_size=2, max_size=5), st.integers(2, 4))
def test_no_other_stages_have_a_smaller_bottleneck(times, count):
    training = problem(times, cluster(*[1] * count), micro_batches=12)
    [plan] = pipedream.plans(training)
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


def test_two_versions_need_a_micro_batch_for_each_board():
    boards = cluster(1, 1, 1, 1)
    [refusal] = pipedream.plans_2bw(problem([1] * 4, boards, micro_batches=2))
    assert "fewer than its" in refusal.reason
    [plan] = pipedream.plans_2bw(problem([1] * 4, boards, micro_batches=8))
    assert isinstance(plan, Plan)
    assert plan.staleness == "weights, 1 step"
    # Without a flush, a step takes what its micro-batches take: none fills the pipeline anew.
    assert plan.seconds == pytest.approx(8)
