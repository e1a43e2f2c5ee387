"""Orders of micro-batches, and runs of layers."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.cluster.schedules import balanced_runs, one_forward_one_backward


@given(st.integers(1, 8), st.integers(1, 20), st.data())
def test_one_forward_one_backward(stages, count, data):
    """Both passes of all, in order; no more in flight than there are stages from this one on."""
    stage = data.draw(st.integers(0, stages - 1))
    order = list(one_forward_one_backward(stage, stages, count))
    for forward in (True, False):
        assert [number for kind, number in order if kind == forward] == list(range(count))
    in_flight = list(itertools.accumulate(1 if forward else -1 for forward, _ in order))
    assert max(in_flight) == min(stages - stage, count)
    assert min(in_flight) == in_flight[-1] == 0


@given(st.lists(st.integers(0, 50), min_size=1, max_size=9), st.data())
def test_runs_are_balanced_as_well_as_they_can_be(costs, data):
    count = data.draw(st.integers(1, len(costs)))
    runs = balanced_runs(costs, count)
    assert [number for run in runs for number in run] == list(range(len(costs)))
    assert len(runs) == count and all(runs)
    largest = max(sum(costs[number] for number in run) for run in runs)
    assert largest == min(
        max(sum(costs[start:end]) for start, end in itertools.pairwise((0, *cuts, len(costs))))
        for cuts in itertools.combinations(range(1, len(costs)), count - 1))
