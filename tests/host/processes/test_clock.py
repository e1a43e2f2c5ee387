# SPDX-License-Identifier: BSD-2-Clause
"""A board's clock goes on by what it computes, and by what it waits for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.processes.clock import BusyInterval, Clock


def test_computing_and_waiting():
    clock = Clock("board")
    clock.compute(2.0, "forward 1")
    clock.wait(5.0)
    clock.compute(1.5, "backward 1")
    clock.wait(6.0)  # which is over
    assert (clock.now, clock.computed, clock.waited) == (6.5, 3.5, 3.0)
    assert clock.intervals == [BusyInterval("board", "forward 1", 0.0, 2.0),
                               BusyInterval("board", "backward 1", 5.0, 6.5)]


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 10)), max_size=9))
def test_all_time_is_spent_in_one_way(moves):
    clock = Clock("board")
    for computing, value in moves:
        clock.compute(value, "") if computing else clock.wait(value)
    assert clock.now == pytest.approx(clock.computed + clock.waited)
    assert clock.now >= max((value for computing, value in moves if not computing), default=0)
