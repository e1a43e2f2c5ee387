# SPDX-License-Identifier: BSD-2-Clause
"""Messages pass a port one at a time, in whatever order they are asked for."""

from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.processes.port import Port


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), max_size=12))
def test_each_passes_as_soon_as_it_can(messages):
    port, busy = Port(), set()
    for ready, seconds in messages:
        begin = next(begin for begin in range(ready, 200)
                     if busy.isdisjoint(range(begin, begin + seconds)))
        assert port.passed(ready, seconds) == begin + seconds
        busy |= {*range(begin, begin + seconds)}


def test_what_is_cleared_is_not_waited_for():
    port = Port()
    assert [port.passed(0, 3), port.passed(1, 3)] == [3, 6]
    port.clear()
    assert port.passed(1, 3) == 4
