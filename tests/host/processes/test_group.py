# SPDX-License-Identifier: BSD-2-Clause
"""Groups: the leader's values are dealt one by one, and a group without a clock has no time."""

import pickle

import pytest

from tests.host.processes.thread_group import ThreadGroup, on_ranks


@pytest.mark.parametrize("size", [1, 2, 4])
def test_each_rank_gets_its_value(size):
    values = [{"rank": rank, "text": "x" * (1 + 70_000 * rank)} for rank in range(size)]
    taken = []

    def pickled():
        for number, value in enumerate(values):
            taken.append(number)
            yield pickle.dumps(value)

    found = on_ranks(size, lambda group: group.deal(pickled() if group.rank == 0 else ()))
    assert found == values and taken == list(range(size))


def test_others_than_the_leader_need_no_values():
    found = on_ranks(3, lambda group: group.deal([pickle.dumps(rank) for rank in "abc"]
                                                 if group.rank == 0 else ()))
    assert found == ["a", "b", "c"]


def test_without_a_clock_nothing_takes_time():
    group = ThreadGroup(1, 2, [], None)
    assert (group.rank, group.size) == (1, 2)
    group.begin_step()
    group.compute(None, range(1), forward=True)
    group.spend("train", 5)
    group.ahead("rows")
    group.divide(1.0)
    group.end_step()
    assert group.time() is None
