# SPDX-License-Identifier: BSD-2-Clause
"""Combinations that stay have all values, and are few."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tests.combinations import redundant


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_of_all_combinations_as_many_stay_as_the_longest_parameter_has_values(sizes):
    every = [dict(enumerate(values)) for values in itertools.product(*map(range, sizes))]
    assert redundant(every).count(False) == max(sizes)


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, unique=True))
def test_every_value_stays(found):
    combinations = [dict(enumerate(values)) for values in found]
    kept = [one for one, leave in zip(combinations, redundant(combinations), strict=True)
            if not leave]
    assert set().union(*(one.items() for one in kept)) == set().union(
        *(one.items() for one in combinations))
