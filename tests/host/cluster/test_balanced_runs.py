# SPDX-License-Identifier: BSD-2-Clause
"""Runs of costs."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.cluster.balanced_runs import balanced_runs


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
