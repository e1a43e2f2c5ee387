# SPDX-License-Identifier: BSD-2-Clause
"""The order of micro-batches on a board."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.schedules.turns import all_forward_all_backward, one_forward_one_backward


@given(st.integers(1, 8), st.integers(1, 20))
def test_one_forward_one_backward(limit, count):
    """Both passes of all, in order; never more in flight than may be, and as many if there are."""
    order = list(one_forward_one_backward(limit, count))
    for forward in (True, False):
        assert [number for kind, number in order if kind == forward] == list(range(count))
    in_flight = list(itertools.accumulate(1 if forward else -1 for forward, _ in order))
    assert max(in_flight) == min(limit, count)
    assert min(in_flight) == in_flight[-1] == 0


def test_a_few():
    assert list(one_forward_one_backward(2, 3)) == [
        (True, 0), (True, 1), (False, 0), (True, 2), (False, 1), (False, 2)]


@given(st.integers(0, 20))
def test_all_forward_all_backward(count):
    order = list(all_forward_all_backward(count))
    assert order[:count] == [(True, number) for number in range(count)]
    assert order[:count - 1:-1] == [(False, number) for number in range(count)]
