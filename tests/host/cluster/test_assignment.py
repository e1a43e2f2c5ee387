# SPDX-License-Identifier: BSD-2-Clause
"""Boards take turns, each as often as it is to."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.cluster.assignment import Assignment, turns


@given(st.lists(st.integers(1, 9), min_size=1, max_size=9))
def test_each_board_has_its_count_and_a_short_step_is_shared(counts):
    found = turns(counts)
    total = sum(counts)
    assert Counter(found) == dict(enumerate(counts))
    for length in range(total + 1):
        taken = Counter(found[:length])
        assert all(abs(taken[board] - length * count / total) < 1 + count / total * len(counts)
                   for board, count in enumerate(counts))


def test_equal_boards_take_turns_in_order():
    assert turns([2, 2, 1]) in ([0, 1, 2, 0, 1], [0, 1, 0, 1, 2], [0, 1, 2, 0, 1])
    assert turns([3, 3]) == [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize(("given", "older", "stale"), [
    ({}, False, False), ({"versions": 1, "stages": 1, "chunks": 0}, False, False),
    ({"versions": 2}, True, True), ({"stages": 2}, True, True), ({"chunks": 1}, False, True),
    ({"smoothing": 0.0}, False, True), ({"smoothing": 0.5}, False, True),
    ({"scheme": "layers", "boards": ("a", "b"), "in_flight": (2, 1)}, False, False)])
def test_what_is_older_than_on_one_board(given, older, stale):
    assignment = Assignment(**given)
    assert (assignment.older_weights, assignment.stale) == (older, stale)
