# SPDX-License-Identifier: BSD-2-Clause
"""What ranks compare of a training."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercast.host.cluster.cluster_error import ClusterError
from hypercast.host.files.json_values import leaves
from hypercast.host.schemes.agreement import agree, versions
from tests.host.processes.thread_group import on_ranks


def test_ranks_that_are_about_the_same():
    on_ranks(3, lambda group: agree(group, {"graph": {"sha256": "ab"}, "seeds": [1, 2]}))


def test_the_rank_that_differs_is_named():
    with pytest.raises(ClusterError, match=r"^board 2 trains something else: seeds.2 is 5 on board "
                                           r"2, 2 on board 0; give all boards the same command"):
        on_ranks(3, lambda group: agree(group, {"seeds": [1, 5 if group.rank == 2 else 2]}))


@given(st.integers(2, 4), st.data())
@settings(max_examples=20, deadline=None)
def test_any_difference_is_found_by_a_few_bytes(size, data):
    """The first difference of the first rank that has one is told; the others end silently."""
    facts = st.dictionaries(st.sampled_from("abc"), st.integers(0, 1) | st.lists(
        st.sampled_from([True, None, "x"]), max_size=2))
    first, other = data.draw(facts), data.draw(facts)
    odd = data.draw(st.sets(st.integers(1, size - 1), max_size=size))
    gathered, ended = [], []

    def compare(group):
        gather = group.gather
        group.gather = lambda value: gathered.append(value) or gather(value)
        try:
            agree(group, other if group.rank in odd else first)
        except SystemExit as end:
            ended.append((group.rank, end.code))
            raise

    if not odd or dict(leaves(first)) == dict(leaves(other)):
        on_ranks(size, compare)
        assert not ended
    else:
        with pytest.raises(ClusterError, match=f"^board {min(odd)} trains something else: "):
            on_ranks(size, compare)
        assert (min(odd), 1) in ended  # before the leader; others may be broken off
        assert {code for _, code in ended} == {1}
    assert all(len(value) == 32 for value in gathered)


def test_versions_are_compared():
    own = versions()
    assert own["numpy"] == np.__version__ and len(own["source"]) == 16
    with pytest.raises(ClusterError, match=r"version.numpy is 1.0 on board 1, 2"):
        on_ranks(2, lambda group: agree(group, {
            "version": own | ({"numpy": "1.0"} if group.rank else {})}))
